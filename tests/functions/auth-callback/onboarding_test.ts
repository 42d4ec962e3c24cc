/** The first sign-in: the form's suggestions, the rows from one submission, and rejected input. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { formsOf } from "./harness.ts";
import { accountTest, auditOf, newPerson, onboarded } from "./account_harness.ts";

accountTest("GET /onboarding prefills the fields from the browser's language", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const page = await (await browser.get("/onboarding?next=%2Fx", { "accept-language": "en,de-AT;q=0.9" })).text();
  const form = formsOf(page)[0]!;
  const { form_token, ...fields } = form.fields;
  assert(form_token);
  assertEquals(form.action, "/onboarding?next=%2Fx");
  assertEquals(fields, {
    country: "AT",
    organization_name: "Personal",
    timezone: "Europe/Vienna",
    base_currency: "EUR",
    reminder_email: "mira@example.com",
  });
  assertEquals(page.match(/<option value="[A-Z]{2}"/g)?.length, 249);
  const currencies = [...page.matchAll(/<option value="([A-Z]{3})"[^>]*>\1 – ([^<]+)</g)];
  assertEquals(currencies.filter(([, code, name]) => code === name), [], "a currency has no name");
  assertEquals(currencies.find(([, code]) => code === "ZWG")?.[2], "Zimbabwean Gold");
  const unknown = formsOf(await (await browser.get("/onboarding")).text())[0]!;
  assertEquals([unknown.fields.country, unknown.fields.timezone], ["", "UTC"]);
});

/** Runs the page's script in a browser with this time zone. @returns the form's selection afterwards */
function suggestedIn(page: string, timeZone: string): Record<string, string> {
  const { fields } = formsOf(page)[0]!;
  const select = (id: string) => {
    const [html] = page.match(new RegExp(`<select[^>]* id="${id}".*?</select>`, "s"))!;
    const options = [...html.matchAll(/<option value="([^"]+)"([^>]*)>/g)].map(([, value, attributes]) => ({
      value: value!,
      dataset: Object.fromEntries([...attributes!.matchAll(/data-(\w+)="([^"]*)"/g)].map(([, key, of]) => [key, of])),
    }));
    return {
      value: fields[id]!,
      options,
      addEventListener: () => {},
      get selectedOptions() {
        return options.filter(({ value }) => value === this.value);
      },
    };
  };
  const selects = Object.fromEntries(["country", "timezone", "base_currency"].map((id) => [id, select(id)]));
  const browser = { DateTimeFormat: () => ({ resolvedOptions: () => ({ timeZone }) }) };
  const [, script] = page.match(/<script[^>]*>(.*?)<\/script>/s)!;
  new Function("document", "Intl", script!)({ getElementById: (id: string) => selects[id] }, browser);
  return Object.fromEntries(Object.entries(selects).map(([id, { value }]) => [id, value]));
}

accountTest("the browser's time zone suggests the country, whatever its language", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const page = async (language: string) =>
    await (await browser.get("/onboarding", { "accept-language": language })).text();
  const english = await page("en-US");
  const inBerlin = { country: "DE", timezone: "Europe/Berlin", base_currency: "EUR" };
  assertEquals(suggestedIn(english, "Europe/Berlin"), inBerlin);
  assertEquals(suggestedIn(await page("de"), "Europe/Berlin"), inBerlin);
  const inIndia = { country: "IN", timezone: "Asia/Kolkata", base_currency: "INR" };
  assertEquals(suggestedIn(english, "Asia/Calcutta"), inIndia);
  assertEquals(suggestedIn(english, "UTC"), { country: "US", timezone: "UTC", base_currency: "USD" });
});

accountTest(
  "POST /onboarding creates profile, organization, membership, categories and trial",
  async (pages, database) => {
    const { id } = await onboarded(pages, database, "mira@example.com", { organization_name: "Mira’s house" });
    const [made] = await database.query(
      `select p.country, p.timezone, p.reminder_email, o.name, o.base_currency, o.plan, o.trial_ends_at, o.owner_id, m.role,
       (select count(*) from app.categories as c where c.organization_id = o.id) as categories
     from identity.profiles as p join identity.organizations as o on o.owner_id = p.user_id
     join identity.memberships as m on m.organization_id = o.id and m.user_id = p.user_id`,
    );
    assertEquals(made, {
      country: "DE",
      timezone: "Europe/Berlin",
      reminder_email: null,
      name: "Mira’s house",
      base_currency: "EUR",
      plan: "free",
      trial_ends_at: "2026-12-04T10:00:00+00:00",
      owner_id: id,
      role: "owner",
      categories: 16,
    });
    assertEquals(await auditOf(database), ["account.created"]);
  },
);

accountTest("POST /onboarding creates everything once, even when submitted repeatedly", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const page = await (await browser.get("/onboarding", { "accept-language": "en-IN" })).text();
  const presses = await Promise.all(Array.from({ length: 5 }, () => browser.submit(page, 'name="country"')));
  presses.push(await browser.submit(page, 'name="country"'));
  assertEquals(presses.map((press) => press.headers.get("location")), Array(6).fill("/account"));
  const [counts] = await database.query(
    `select (select count(*) from identity.organizations) as organizations, (select count(*) from identity.memberships) as memberships,
       (select count(*) from app.categories) as categories, (select count(*) from identity.audit_events) as events`,
  );
  assertEquals(counts, { organizations: 1, memberships: 1, categories: 16, events: 1 });
  assertEquals((await browser.get("/onboarding?next=%2Fx")).headers.get("location"), "/x");
});

accountTest(
  "POST /onboarding gives a profile without a country its first organization, without a second trial",
  async (pages, database) => {
    const { id, browser } = await newPerson(pages, database, "mira@example.com");
    await database.query("insert into identity.profiles (user_id, email, trial_started_at) values ($1, $2, $3)", [
      id,
      "mira@example.com",
      "2026-01-01T00:00:00Z",
    ]);
    const page = await (await browser.get("/onboarding")).text();
    await browser.submit(page, 'name="country"', { country: "JP", base_currency: "JPY", timezone: "Asia/Tokyo" });
    assertEquals(await database.query("select plan, trial_ends_at, base_currency from identity.organizations"), [
      { plan: "free", trial_ends_at: null, base_currency: "JPY" },
    ]);
  },
);

accountTest("POST /onboarding accepts the country alone and fills in the rest", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const { form_token } = formsOf(await (await browser.get("/onboarding")).text())[0]!.fields;
  await browser.post("/onboarding", { form_token: form_token!, country: "IN" });
  assertEquals(
    await database.query(
      "select p.timezone, o.base_currency, o.name from identity.profiles as p join identity.organizations as o on true",
    ),
    [{ timezone: "Asia/Kolkata", base_currency: "INR", name: "Personal" }],
  );
});

accountTest("POST /onboarding marks wrong fields, keeps the input and saves nothing", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const page = await (await browser.get("/onboarding?next=%2Fx", { "accept-language": "de-DE" })).text();
  for (
    const [field, value, words] of [
      ["country", "XX", "Choose a country."],
      ["country", "", "Choose a country."],
      ["organization_name", "x".repeat(121), "at most 120 characters"],
      ["timezone", "Mars/Olympus", "Choose a time zone"],
      ["timezone", "+05:30", "Choose a time zone"],
      ["base_currency", "XXX", "We don’t know this one"],
      ["reminder_email", "nobody", "not an email address"],
    ]
  ) {
    const response = await browser.submit(page, 'name="country"', {
      organization_name: "<i>Kept</i>",
      [field!]: value!,
    });
    const again = await response.text();
    assertEquals(response.status, 400, `${field}=${value}`);
    assertStringIncludes(again, words!);
    if (field !== "organization_name") assertStringIncludes(again, 'value="&lt;i&gt;Kept&lt;/i&gt;"');
    assertMatch(again, new RegExp(`name="${field}"[^>]*aria-invalid="true"`));
    assertEquals(formsOf(again)[0]!.action, "/onboarding?next=%2Fx");
  }
  assertEquals(await database.query("select from identity.profiles"), []);
});

accountTest("POST /onboarding shows the form again for an unknown country", async (pages, database) => {
  const { browser } = await newPerson(pages, database, "mira@example.com");
  const page = await (await browser.get("/onboarding")).text();
  for (const country of ["x;y", "ZZ", "und", "\ud800", "D\u0000"]) {
    const refused = await browser.submit(page, 'name="country"', { country, timezone: "" });
    assertEquals(refused.status, 400, country);
  }
});
