/** Each owner's digest: its organizations, its address, and its day in the owner's time zone. */
import { assertEquals } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { addBill, at, database, fresh, run, said } from "./reminder_run.ts";

Deno.test("one digest covers all organizations with reminders and no others", async () => {
  const home = await fresh();
  const [other, free] = await Promise.all([
    openBooks(database, { day: "2026-11-10" }),
    openBooks(database, { day: "2026-11-10" }),
  ]);
  for (const [books, name] of [[home, "Rent"], [other, "Studio"], [free, "Car"]] as const) {
    await addBill(books, name, "2026-11-22");
  }
  await database.query("update identity.organizations set owner_id = $1, name = 'Studio' where id = $2", [
    home.userId,
    other.organizationId,
  ]);
  await database.query("update identity.organizations set owner_id = $1, plan = 'free' where id = $2", [
    home.userId,
    free.organizationId,
  ]);
  await database.query("update identity.memberships set user_id = $1 where role = 'owner'", [home.userId]);
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-20") }), 2);
  const digests = await run(at("2026-11-20"));
  assertEquals(digests.map(({ content }) => content.organizations.map(({ name }) => name)), [["Household", "Studio"]]);
  // Overdue bills count for seven days.
  await database.query(
    "update identity.organizations set plan = 'pro', plan_status = 'past_due', past_due_since = '2026-11-14T08:00Z' where id = $1",
    [free.organizationId],
  );
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-21", "07:00") }), 3);
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-21", "09:00") }), 2);
});

Deno.test("mails go to the confirmed reminder address, else the sign-in address, unless turned off", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.query("update identity.profiles set email_enabled = false");
  assertEquals(await run(at("2026-11-20")), []);
  await database.query("update identity.profiles set email_enabled = true, reminder_email = 'bills@example.com'");
  const [first] = await run(at("2026-11-20"));
  assertEquals(first!.content.address, `${books.userId}@example.com`);
  await addBill(books, "Water", "2026-11-23");
  await database.query("update identity.profiles set reminder_email_confirmed_at = now()");
  const [second] = await run(at("2026-11-21"));
  assertEquals(second!.content.address, "bills@example.com");
});

Deno.test("the owner's time zone determines the day: Kolkata, New York, Kiritimati and Apia, across daylight saving", async () => {
  // At 08:00 UTC, and at the end of the catch-up at 11:50 UTC.
  const days: [zone: string, at: string, today: string][] = [
    ["Asia/Kolkata", "2026-11-20T08:00Z", "2026-11-20"],
    ["Asia/Kolkata", "2026-11-20T18:29Z", "2026-11-20"],
    ["Asia/Kolkata", "2026-11-20T18:31Z", "2026-11-21"],
    ["America/New_York", "2026-11-20T04:59Z", "2026-11-19"],
    ["America/New_York", "2026-11-20T05:01Z", "2026-11-20"],
    // DST ends on 1 November and begins on 14 March.
    ["America/New_York", "2026-10-31T04:01Z", "2026-10-31"],
    ["America/New_York", "2026-11-01T03:59Z", "2026-10-31"],
    ["America/New_York", "2026-11-02T04:59Z", "2026-11-01"],
    ["America/New_York", "2027-03-14T04:59Z", "2027-03-13"],
    ["America/New_York", "2027-03-15T04:01Z", "2027-03-15"],
    ["Pacific/Kiritimati", "2026-11-20T08:00Z", "2026-11-20"],
    ["Pacific/Kiritimati", "2026-11-20T11:50Z", "2026-11-21"],
    // No DST since 2021; UTC+13 all year.
    ["Pacific/Apia", "2026-11-20T10:50Z", "2026-11-20"],
    ["Pacific/Apia", "2026-11-20T11:10Z", "2026-11-21"],
    ["Pacific/Apia", "2026-06-20T11:10Z", "2026-06-21"],
    ["Europe/Berlin", "2026-10-24T22:30Z", "2026-10-25"],
    ["Europe/Berlin", "2026-10-25T22:30Z", "2026-10-25"],
    ["Europe/Berlin", "2027-03-27T22:59Z", "2027-03-27"],
    ["Europe/Berlin", "2027-03-28T22:01Z", "2027-03-29"],
  ];
  for (const [timezone, instant, today] of days) {
    const books = await fresh({ timezone, day: "2026-06-01" });
    await addBill(books, "Today", today, { remind_days_before: 0, frequency: "once" });
    const [digest] = await run(instant);
    assertEquals([timezone, instant, digest?.content.today], [timezone, instant, today]);
    assertEquals(said([digest!]), ["Today 0"]);
  }
});

Deno.test("changing the time zone mid-day causes one digest that day and one the next", async () => {
  const journeys: [from: string, to: string][] = [
    ["Pacific/Kiritimati", "Pacific/Honolulu"],
    ["Pacific/Honolulu", "Pacific/Kiritimati"],
    ["Pacific/Apia", "Pacific/Pago_Pago"],
    ["Pacific/Pago_Pago", "Pacific/Apia"],
    ["Europe/Berlin", "America/New_York"],
    ["Asia/Kolkata", "America/Los_Angeles"],
    ["America/New_York", "Asia/Kolkata"],
  ];
  for (const [from, to] of journeys) {
    const books = await fresh({ timezone: from });
    await addBill(books, "Before", "2026-11-22");
    assertEquals((await run(at("2026-11-20"))).length, 1, `${from}, at home`);
    await database.query("update identity.profiles set timezone = $1", [to]);
    await addBill(books, "After", "2026-11-23");
    for (const time of ["08:10", "09:00", "09:50"]) {
      assertEquals((await run(at("2026-11-20", time))).length, 0, `${from} to ${to} at ${time}`);
    }
    assertEquals(
      (await run(at("2026-11-21"))).map((digest) => said([digest])[0]!.split(" ")[0]),
      ["After"],
      `${to}, the next day`,
    );
    await addBill(books, "Later", "2026-11-24");
    assertEquals((await run(at("2026-11-22"))).length, 1, `${to}, the day after`);
  }
});
