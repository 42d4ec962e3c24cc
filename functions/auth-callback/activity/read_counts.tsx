/** @jsxImportSource hono/jsx */
/** The daily number of reads by apps. */
import type { ReadCount } from "../../../shared/db/activity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { Name } from "../../../shared/pages/components.tsx";
import type { Reader } from "../../../shared/words/reader.ts";

export function ReadCounts({ reads, reader: { words: { activity: words }, format } }: {
  reads: ReadCount[];
  reader: Reader;
}) {
  const days = [...new Set(reads.map(({ day }) => day))];
  return (
    <section>
      <h2>{words.reads}</h2>
      <p>{words.readsAbout}</p>
      {reads.length === 0 && <p>{words.noReads}</p>}
      {reads.length > 0 && (
        <dl class="facts">
          {days.map((day) => (
            <>
              <dt>{format.date(day)}</dt>
              <dd>
                {reads.filter((one) => one.day === day).map(({ by, client_name: app, count }) => (
                  <div>
                    {words.readBy(
                      app ? <Name>{shownClientName(app)}</Name> : words.unnamedApp,
                      by === null ? words.formerPerson : <Name>{by}</Name>,
                      format.number(count),
                      count,
                    )}
                  </div>
                ))}
              </dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}
