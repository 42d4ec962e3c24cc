/** @jsxImportSource hono/jsx */
/**
 * The front page: what the service does, how to connect, prices, security. The only page that search engines may list.
 * It calls neither the identity provider nor the database.
 */
import { hasSession } from "../../../shared/http/session.ts";
import { Buttons } from "../../../shared/pages/components.tsx";
import { ConnectSteps } from "../../../shared/pages/connect_steps.tsx";
import { COPY_SCRIPT } from "../../../shared/pages/copy_button.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { Handler, OpenPageDeps } from "../page_guards.ts";
import { Shown } from "./shown.tsx";

export const showFrontPage = ({ config }: OpenPageDeps): Handler => (c) => {
  const { frontPage: words, connecting, plan } = c.get("reader").words;
  const prices = ([["pro", config.proPrice], ["team", config.teamPrice]] as const).filter(([, price]) => price);
  return renderPage(c, {
    title: words.title,
    config,
    script: COPY_SCRIPT,
    preview: { description: words.description, url: `${config.siteUrl}/` },
    children: (
      <>
        <h1>{words.heading}</h1>
        <p class="lead">{words.lead}</p>
        <Buttons>
          {hasSession(c, config)
            ? <a class="button primary" href="/account">{words.account}</a>
            : <a class="button primary" href="/login">{words.start}</a>}
        </Buttons>
        <Shown words={c.get("reader").catalog} />
        <section>
          <h2>{words.say}</h2>
          <ul class="said">{words.examples.map((example) => <li>{example}</li>)}</ul>
        </section>
        <section>
          <h2>{words.connect}</h2>
          <p>{words.connectLead}</p>
          <ConnectSteps connectorUrl={createUrls(config).resource} words={connecting} />
        </section>
        {(prices.length > 0 || config.pricingUrl) && (
          <section>
            <h2>{words.costs}</h2>
            <ul class="rows">
              {prices.map(([name, price]) => (
                <li class="row entry">
                  <div>
                    <h3>{plan.names[name]}</h3>
                    <p>{words.includes[name]}</p>
                  </div>
                  <p class="price">{price}</p>
                </li>
              ))}
            </ul>
            <p class="after-rows">{words.trial}</p>
            {config.pricingUrl && (
              <p class="after-rows">
                <a href={config.pricingUrl}>{words.seePrices}</a>
              </p>
            )}
          </section>
        )}
        <section>
          <h2>{words.trustTitle}</h2>
          <p>{words.trust}</p>
          {config.privacyUrl && (
            <p>
              <a href={config.privacyUrl}>{words.privacy}</a>
            </p>
          )}
        </section>
      </>
    ),
  });
};
