/**
 * The stylesheet of every page, inlined under a nonce. One column, hierarchy by size and weight, one accent color. Text
 * meets 4.5:1 and control edges 3:1 in both themes (measured by tests/browser).
 */
export const STYLES = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --soft: #f4f6f5; --ink: #17201d; --muted: #56625d; --line: #dde3e0; --edge: #7c8984;
  --accent: #0b5f4c; --accent-strong: #084a3b; --on-accent: #ffffff;
  --danger: #a12a1e; --warn: #fcf4df; --warn-edge: #b07d13; --bad: #fbeae7; --good: #e7f3ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121715; --soft: #1b221f; --ink: #e7ece9; --muted: #a0aca7; --line: #2c3632; --edge: #75837d;
    --accent: #74d0b4; --accent-strong: #97e0ca; --on-accent: #06281f;
    --danger: #f2998e; --warn: #2b2413; --warn-edge: #c99a3a; --bad: #311b18; --good: #14291f;
  }
}
* { box-sizing: border-box; }
html { font: 100%/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.column { width: 100%; max-width: 44rem; margin-inline: auto; padding-inline: 1.25rem; }
.page { flex: 1; padding-block: 2.5rem 4rem; }
.bar { border-bottom: 1px solid var(--line); }
.bar .column { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; min-height: 3.5rem; padding-block: .5rem; }
.bar a, .switch summary { min-height: 1.75rem; line-height: 1.75rem; }
.bar [aria-current=page] { color: var(--ink); font-weight: 600; text-decoration: none; }
/* Underlined twice, as a total is in a ledger. */
.brand { margin-inline-end: auto; font-weight: 650; letter-spacing: -.01em; color: var(--ink); text-decoration: none; border-bottom: .25em double var(--accent); line-height: 1.25; }
.switch { position: relative; min-width: 0; flex: 0 1 auto; margin-inline-end: auto; }
.brand:has(+ .switch) { margin-inline-end: 0; }
.switch summary { display: flex; gap: .5rem; color: var(--ink); font-weight: 600; text-decoration: none; }
.switch summary bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 20rem; }
.switch summary::after { content: ""; flex: none; align-self: center; width: .4rem; height: .4rem; margin-top: -.2rem; border: solid var(--muted); border-width: 0 .125rem .125rem 0; transform: rotate(45deg); }
.switch ul { position: absolute; z-index: 1; inset-inline-start: -.75rem; top: 100%; width: max-content; max-width: 18rem; max-height: 60vh; overflow: auto; margin: .375rem 0 0; padding: .375rem 0; list-style: none; background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; }
.switch li a { display: block; padding: .375rem .75rem; color: var(--ink); text-decoration: none; }
.switch li a:hover { background: var(--soft); }
.switch [aria-current] { font-weight: 600; }
.switch li:last-child { border-top: 1px solid var(--line); }
.bar .tabs { gap: 0 1.25rem; min-height: 0; padding-block: 0; }
.tabs a { padding-block: .375rem; color: var(--muted); text-decoration: none; border-bottom: .125rem solid transparent; }
.tabs a:hover { color: var(--ink); border-color: var(--edge); }
.tabs [aria-current] { border-color: var(--accent); }
.foot { border-top: 1px solid var(--line); color: var(--muted); font-size: .875rem; }
.foot .column { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-block: 1.25rem; }
.skip { position: absolute; inset-inline-start: -100vw; }
.skip:focus { inset-inline-start: 1rem; top: .5rem; padding: .5rem .75rem; background: var(--paper); z-index: 1; }

h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -.02em; text-wrap: balance; }
h2 { margin: 0; font-size: 1.125rem; line-height: 1.35; font-weight: 650; letter-spacing: -.005em; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
p, ul, ol, dl { margin: 0 0 1rem; }
h1 + p { margin-bottom: 1.75rem; }
p { text-wrap: pretty; }
h2 + ul { margin-top: .375rem; }
.lead { font-size: 1.0625rem; }
.muted { color: var(--muted); }
small, .small { font-size: .875rem; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: .06em; }
a:hover { color: var(--accent-strong); text-decoration-thickness: .12em; }
:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .1875rem; border-radius: .125rem; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .9375em; }
pre { margin: 0; white-space: pre-wrap; }
.copying { display: flex; flex-wrap: wrap; gap: .75rem; margin-bottom: 1rem; }
.copying > .copy { flex: 1 1 16rem; }
.copying > button { flex: none; }
.copy { display: block; padding: .75rem .875rem; background: var(--soft); border-radius: .375rem; user-select: all; }

section { margin-top: 2.75rem; }
section > h2 { padding-bottom: .625rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }

.indexed > nav { padding-block: .75rem; border-block: 1px solid var(--line); }
.indexed > nav ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); column-gap: 1rem; margin: 0; }
.indexed > nav a { display: block; padding-block: .1875rem; font-size: .9375rem; color: var(--muted); text-decoration: none; }
.indexed > nav a:hover { color: var(--ink); text-decoration: underline; }
.indexed > nav li { padding: 0; }
.indexed section { scroll-margin-top: 1.25rem; }

form { margin: 0; }
form + p { margin-top: 1rem; }
.stack > * + * { margin-top: 1.5rem; }
.field > label, .field > .label, legend { display: block; font-weight: 600; padding: 0; }
.reason { margin: .125rem 0 .5rem; color: var(--muted); font-size: .9375rem; }
.field > .label + *, .field > label + input, .field > label + select { margin-top: .375rem; }
input:not([type=radio], [type=checkbox], [type=hidden]), select {
  display: block; width: 100%; max-width: 27rem; min-height: 2.875rem; padding: .5rem .75rem; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; text-overflow: ellipsis;
}
input.drop { max-width: none; padding: 2.75rem 1.25rem; background: var(--soft); border: .125rem dashed var(--edge); text-align: center; cursor: pointer; }
input.drop:hover { border-color: var(--accent); }
input.drop::file-selector-button { min-height: 2.875rem; margin: 0 1rem 0 0; padding: .625rem 1.25rem; font: inherit; font-weight: 600; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; cursor: pointer; }
[hidden] { display: none !important; }
progress { display: block; width: 100%; height: .75rem; accent-color: var(--accent); }
input:focus-visible, select:focus-visible { outline-offset: 0; border-radius: .375rem; }
[aria-invalid=true] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
input.code { max-width: 11rem; font-size: 1.375rem; letter-spacing: .25em; }
input[type=radio], input[type=checkbox] { flex: none; width: 1.125rem; height: 1.125rem; margin: .2rem 0 0; accent-color: var(--accent); }
.invalid { margin: .375rem 0 0; color: var(--danger); font-size: .9375rem; }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
.choices, .choices + details { margin-top: .75rem; }
.choices { border-block: 1px solid var(--line); }
.choice { display: flex; gap: .75rem; padding-block: .875rem; cursor: pointer; }
form > .choice { padding: 0; }
.choice + .choice { border-top: 1px solid var(--line); }
.choice > span { min-width: 0; }
.choice .title { font-weight: 500; }
.choice .detail { display: block; color: var(--muted); font-size: .9375rem; }
.choice.off { cursor: default; }
.choice.off .title { color: var(--muted); }

.buttons { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin-top: 1.75rem; }
button, .button {
  display: inline-block; max-width: 100%; overflow-wrap: anywhere; min-height: 2.875rem; padding: .625rem 1.25rem; font: inherit; font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none;
  color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; cursor: pointer;
}
button:enabled:hover, .button:hover { color: var(--ink); background: var(--soft); }
button:disabled { color: var(--muted); background: var(--soft); border-color: var(--line); cursor: not-allowed; }
.primary:enabled, a.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
.primary:enabled:hover, a.primary:hover { color: var(--on-accent); background: var(--accent-strong); border-color: var(--accent-strong); }
.danger { color: var(--danger); border-color: var(--danger); }
.danger:hover { color: var(--danger); }
.even > * { flex: 1 1 9rem; max-width: 14rem; }
.link { min-height: 0; padding: .25rem 0; font-weight: 400; color: var(--accent); background: none; border: 0; text-decoration: underline; text-underline-offset: .18em; text-decoration-thickness: .06em; }
.link:enabled:hover { background: none; color: var(--accent-strong); }
a.danger, a.danger:hover { color: var(--danger); }
.link.danger, .link.danger:enabled:hover { color: var(--danger); }
.overdue { color: var(--danger); }
.quiet { display: inline-block; padding-block: .125rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
input.short { max-width: 7rem; }
summary { color: var(--accent); text-decoration: underline; text-underline-offset: .18em; text-decoration-thickness: .06em; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
.row > details[open] { flex-basis: 100%; }
.summary { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0 1.5rem; margin: 0 0 1rem; padding-block: 1rem .25rem; border-block: 1px solid var(--line); }
/* The numbers of a line stand side by side, even when one of the names above them wraps. */
.summary > div { display: grid; grid-row: span 2; grid-template-rows: subgrid; margin-bottom: .75rem; }
.summary dt { align-self: end; color: var(--muted); font-size: .9375rem; }
.summary dd { margin: 0; }
.number { font-size: 1.375rem; line-height: 1.3; font-weight: 650; letter-spacing: -.01em; }
.group { margin: 1.25rem 0 .5rem; }
.group:not(.overdue) { color: var(--muted); }
.title { font-weight: 600; }
.row:has(> div > .press) > :first-child { flex-basis: 11rem; }
.row .press button, .row .press input { min-height: 2.25rem; padding-block: .25rem; }
.filter { margin-bottom: 1.5rem; }
.filter .stack { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1.25rem .75rem; align-items: end; justify-items: start; }
.filter .stack > * { margin: 0; }
.filter .field { width: 100%; }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 1rem .75rem; align-items: end; overflow-wrap: anywhere; }
details form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: .75rem; }
details form input { flex: 1 1 12rem; }
.said { padding: 0; list-style: none; }
.said li { padding-block: .5rem; }

.notice { margin-bottom: 1.75rem; padding: .875rem 1rem; background: var(--soft); border-inline-start: .25rem solid var(--edge); border-radius: .25rem; }
.rows + .notice { margin-top: 1.75rem; }
.notice > :last-child { margin-bottom: 0; }
.notice.warning { background: var(--warn); border-color: var(--warn-edge); }
.notice.failure { background: var(--bad); border-color: var(--danger); }
.notice.done { background: var(--good); border-color: var(--accent); }

.rows { margin: 0; padding: 0; list-style: none; }
.row { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1.5rem; padding-block: 1rem; border-bottom: 1px solid var(--line); }
.row:first-child { padding-top: 0; }
.row > :first-child { flex: 1 1 16rem; min-width: 0; }
.row p { margin: 0; }
.entry { flex-wrap: nowrap; }
.entry > :last-child:not(:first-child) { flex: none; }
.row p.invalid { margin-block: .25rem; }
.actions { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.25rem; }
.after-rows { margin: 1rem 0; }
h3.after-rows { margin-top: 1.75rem; }
.bare { margin: 0; padding: 0; list-style: none; }
.bare > li { padding-block: .375rem; }
.bare > .step { padding-block: 1rem; border-bottom: 1px solid var(--line); }
.bare > .step:first-child { padding-top: 0; }
.step > * + * { margin-top: .5rem; margin-bottom: 0; }
.step .buttons { margin-block: .75rem; }
.step.done h3 { color: var(--muted); font-weight: 500; }
.steps { margin-top: .5rem; }
.steps ol { margin: .5rem 0 0; padding-inline-start: 1.5rem; }
.ticks { margin: .25rem 0 0; padding: 0; list-style: none; }
.ticks > li { position: relative; padding-inline-start: 1.75rem; }
.ticks > li::before { content: "✓"; position: absolute; inset-inline-start: 0; color: var(--accent); font-weight: 700; }
.ticks > li + li { margin-top: .5rem; }
.lines { margin: 1.5rem 0 0; padding: 0; list-style: none; }
.line { display: flex; gap: .625rem; align-items: flex-start; }
.line + .line { margin-top: .375rem; }
.detail > .line:first-child { margin-top: .375rem; }
.line svg { flex: none; width: 1.125rem; height: 1.125rem; margin-top: .1875rem; fill: none; stroke: var(--accent); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.line strong { font-weight: 600; color: var(--ink); }
details > ul { margin: .5rem 0 0; padding-inline-start: 1.25rem; }
.buttons + .steps { margin-top: 1.25rem; }
.asking { display: flex; gap: 1rem; align-items: flex-start; margin-bottom: 1.75rem; }
.asking h1 { margin-bottom: .25rem; }
.asking p { margin: 0; }
.mark { flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; font-size: 1.25rem; font-weight: 650; color: var(--accent); background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; }
.price { font-weight: 600; }
.back { margin-top: 2.75rem; }
ul + .facts { margin-top: 1.5rem; }
.facts { display: grid; grid-template-columns: fit-content(60%) 1fr; gap: .5rem 1.5rem; margin-bottom: 0; }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; min-width: 0; }
.bars { margin: 0; padding: 0; list-style: none; }
.bars > li { display: grid; grid-template-columns: 1fr auto; gap: .125rem 1rem; padding-block: .5rem; }
.bars > li > :first-child { min-width: 0; overflow-wrap: anywhere; }
.bars .small { grid-column: 1 / -1; }
.clip { width: 1em; height: 1em; margin-inline-start: .375rem; vertical-align: -.125em; fill: none; stroke: var(--muted); stroke-width: 1.25; }
.bars + p { text-align: end; }
.bars svg { grid-column: 1 / -1; display: block; width: 100%; height: .5rem; background: var(--soft); border-radius: .25rem; fill: var(--accent); }
.shown { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1.25rem; align-items: start; }
.shown figure { margin: 0; padding: 1.25rem; border: 1px solid var(--line); border-radius: .5rem; }
.shown figcaption { margin-bottom: 1rem; color: var(--muted); font-size: .875rem; }
.shown .row { padding-block: .5rem; }
.shown .row > :first-child { flex-basis: 0; }
.total { margin: .75rem 0 0; text-align: end; font-weight: 600; }
.row > .amount, .bars .amount { white-space: nowrap; font-variant-numeric: tabular-nums; }
.asked { display: flex; flex-wrap: wrap; gap: .75rem; align-items: flex-end; }
.asked + .asked { margin-top: 1.25rem; }
section > .asked { margin-bottom: 1.75rem; }
.asked > .field { flex: 1 1 10rem; max-width: 27rem; }
.press select { width: auto; }
.press { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: flex-end; }
.effects { padding: 0; list-style: none; }
.effects > li { padding-block: .625rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.effects p { margin: 0; }
.effect { margin: .25rem 0 0; font-size: .9375rem; }
.effect > div { display: flex; flex-wrap: wrap; gap: 0 .625rem; }
.effect dt { color: var(--muted); }
.effect dd { margin: 0; min-width: 0; }
.effect del { color: var(--muted); }
.effect ins { text-decoration: none; }
.effect del + ins::before { content: "→ "; color: var(--muted); }
.or { display: flex; align-items: center; gap: 1rem; margin-block: 1.75rem; max-width: 27rem; color: var(--muted); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.tag { display: inline-block; padding: 0 .4rem; border: 1px solid var(--edge); border-radius: .25rem; font-size: .75rem; font-weight: 600; line-height: 1.35rem; color: var(--muted); }
.request-id { margin: 3rem 0 0; color: var(--muted); font-size: .8125rem; }
@media (min-width: 64rem) {
  .tabbed .column, .wide .column { max-width: 72rem; }
  .tabbed:not(.wide) .page .column > * { max-width: 41.5rem; }
  .two { display: grid; grid-template: auto 1fr / 3fr 2fr; column-gap: 4rem; }
  .two > * { min-width: 0; }
  .tabbed .page .column > .indexed { display: grid; grid-template-columns: 12rem minmax(0, 41.5rem); column-gap: 4rem; align-items: start; max-width: none; }
  .indexed > nav { position: sticky; top: 1.25rem; border: 0; padding: 0; }
  .indexed > nav ul { display: block; }
  .indexed > div > section:first-child { margin-top: 0; }
  .two > div { grid-area: 1 / 2 / span 2; }
}
/* The name of the organization gives way, so that the header stays one line. */
@media (min-width: 22rem) and (max-width: 26rem) {
  .bar .column:not(.tabs) { flex-wrap: nowrap; column-gap: .75rem; font-size: .9375rem; }
  .bar .column > :not(.switch) { flex: none; }
  .switch summary { min-width: 0; }
}
@media (max-width: 26rem) {
  .bar .column { column-gap: 1rem; }
  .bar .tabs { justify-content: space-between; column-gap: .5rem; font-size: .8125rem; }
  .page { padding-block: 1.75rem 3rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd + dt { margin-top: .625rem; }
  .even > * { max-width: none; }
  .stack > button, .buttons:not(.even) > button, .buttons:not(.even) > .button { flex: 1 0 auto; width: 100%; }
  .buttons > button:has(+ .tag) { width: auto; }
}
@media (forced-colors: active) { .notice { border: 1px solid; } }
`;
