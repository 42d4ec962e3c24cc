/** @jsxImportSource hono/jsx */
/**
 * The privacy policy and the terms: stored data, its retention, and its processors according to the settings. Without
 * `OPERATOR_NAME`, `OPERATOR_CONTACT` and `OPERATOR_COUNTRY`, both pages identify themselves as templates.
 */
import type { Child } from "hono/jsx";
import { type Config, hasOperator } from "../../../shared/config.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { Facts, Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { RETENTION } from "../../../shared/retention.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { Handler, PageDeps } from "../page_guards.ts";

type PolicyWords = PageWords["policies"];

export const showPrivacy = ({ config }: PageDeps): Handler => (c) => {
  const { policies: words } = c.get("reader").words;
  const { operator } = operatorOf(config, words);
  return policyPage(c, { config, words, title: words.privacyTitle }, [
    [words.who, <p>{operator}</p>],
    [
      words.what,
      <>
        <ul>{words.stored.map((what) => <li>{what}</li>)}</ul>
        <p>{words.notStored}</p>
        <p>{words.apps}</p>
      </>,
    ],
    [words.processors, <ul>{processorsOf(config, words).map((processor) => <li>{processor}</li>)}</ul>],
    [
      words.howLong,
      <>
        <p>{words.untilDeleted}</p>
        <Facts
          facts={Object.entries(RETENTION).map(([what, keep]) => [words.kept[what], keptFor(keep, words)] as const)}
        />
        <p class="after-rows">{words.audit}</p>
      </>,
    ],
    [words.rights, <p>{words.yourRights}</p>],
  ]);
};

export const showTerms = ({ config }: PageDeps): Handler => (c) => {
  const { policies: words } = c.get("reader").words;
  const { operator, country } = operatorOf(config, words);
  return policyPage(c, { config, words, title: words.termsTitle }, [
    [words.who, <p>{operator}</p>],
    [words.service, <p>{words.serviceText}</p>],
    [words.duties, <p>{words.dutiesText}</p>],
    [words.data, <p>{words.dataText}</p>],
    [
      words.ending,
      <>
        <p>{words.endingText}</p>
        <p>{words.law(country)}</p>
      </>,
    ],
  ]);
};

async function policyPage(
  c: AppContext,
  { config, words, title }: { config: Config; words: PolicyWords; title: string },
  sections: readonly (readonly [heading: string, text: Child])[],
): Promise<Response> {
  return await renderPage(c, {
    title,
    config,
    children: (
      <>
        <h1>{title}</h1>
        {!hasOperator(config) && <Notice kind="warning">{words.template}</Notice>}
        {sections.map(([heading, text]) => (
          <section>
            <h2>{heading}</h2>
            {text}
          </section>
        ))}
      </>
    ),
  });
}

function operatorOf({ operatorName, operatorContact, operatorCountry }: Config, { blank, operator }: PolicyWords) {
  const country = operatorCountry ?? blank.country;
  return {
    country,
    operator: operator(
      operatorName ? <bdi>{operatorName}</bdi> : blank.name,
      operatorContact ? <bdi>{operatorContact}</bdi> : blank.contact,
      country,
    ),
  };
}

/** @param keep a period such as "14 days", from {@link RETENTION} */
function keptFor(keep: string, { days, hours }: PolicyWords): string {
  const [count, unit] = keep.split(" ");
  return unit!.startsWith("hour") ? hours(Number(count)) : days(Number(count));
}

function processorsOf(config: Config, words: PolicyWords): string[] {
  const mail = config.mailUrl && new URL(config.mailUrl);
  return [
    words.hosting(hostOf(config) ?? words.ownServer),
    ...mail ? [words.mail(mail.protocol === "resend:" ? "Resend" : mail.hostname)] : [],
    ...config.checkoutUrl ? [words.payments(new URL(config.checkoutUrl).hostname)] : [],
    ...config.authProviders.length > 0 ? [words.signIn(config.authProviders.join(", "))] : [],
    words.providers,
    ...config.fxSources.length > 0 ? [words.rates] : [],
  ];
}

/** Undefined on one server whose settings name no host. */
function hostOf({ siteUrl, supabaseUrl, operatorHosting }: Config): string | undefined {
  if (supabaseUrl === siteUrl) return operatorHosting;
  const { hostname } = new URL(supabaseUrl);
  return /\.supabase\.co$/.test(hostname) ? "Supabase" : hostname;
}
