/** The style of a card in HTML, for phones first, dark and light. It loads nothing. */
export const cardStyle = `
:root { color-scheme: light dark; }
body { margin: 0; background: #f4f5f7; }
.card { --ink: #16191d; --soft: #59626e; --line: #dde1e6; --paper: #fff; --code: #f4f5f7; --warn: #7a4b00;
  --warn-paper: #fff4d6; --odd: #fff; --odd-paper: #b3261e; --added: #0b5d2a; --added-paper: #e3f6e8;
  --removed: #8f1d17; --removed-paper: #fdeaea;
  box-sizing: border-box; max-width: 46rem; margin: 0 auto; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.card * { box-sizing: border-box; }
.card h1 { margin: 0 0 .75rem; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
.card h2 { margin: 1.5rem 0 .4rem; font-size: .8rem; font-weight: 600; letter-spacing: .04em; color: var(--soft);
  text-transform: uppercase; }
.card p, .card ul, .card dl, .card dd { margin: 0; }
.card .warnings { padding: .6rem .8rem; list-style: none; border-radius: .5rem; background: var(--warn-paper);
  color: var(--warn); overflow-wrap: anywhere; }
.card .warnings li + li { margin-top: .35rem; }
.card dl > div { padding: .45rem 0; border-top: 1px solid var(--line); }
.card dl > div:first-child { border-top: 0; }
.card dt { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
.card dd { overflow-wrap: anywhere; }
.card bdi { unicode-bidi: isolate; white-space: pre-wrap; }
.card .value { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .93em; }
.card .money, .card .text { font-family: inherit; font-size: 1em; }
.card .note, .card .cut { display: block; color: var(--soft); font-size: .88rem; }
.card .cut { color: var(--warn); }
.card mark { padding: 0 .15em; border-radius: .2em; background: var(--odd-paper); color: var(--odd); }
.card pre { margin: .35rem 0 0; padding: .6rem .7rem; border-radius: .5rem; background: var(--code); color: inherit;
  font: .85rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
.card pre span { display: block; min-height: 1.45em; }
.card .added { background: var(--added-paper); color: var(--added); }
.card .removed { background: var(--removed-paper); color: var(--removed); }
.card .place { color: var(--soft); }
.card .table { overflow-x: auto; }
.card table { margin-top: .35rem; border-collapse: collapse; font-size: .93rem; }
.card th, .card td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
.card del { color: var(--removed); }
.card ins { color: var(--added); font-weight: 600; text-decoration: none; }
.card blockquote { margin: 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--soft);
  overflow-wrap: anywhere; }
.card summary { margin-top: 1.5rem; color: var(--soft); cursor: pointer; }
@media (min-width: 40rem) {
  body { padding: 1.5rem; }
  .card { padding: 1.5rem 1.75rem; border: 1px solid var(--line); border-radius: .75rem; }
  .card dl > div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; }
  .card dl > div > dd.block { grid-column: 1 / -1; }
}
@media (prefers-color-scheme: dark) {
  body { background: #0e1013; }
  .card { --ink: #e8eaed; --soft: #9aa4b0; --line: #2c3138; --paper: #16191d; --code: #0e1013; --warn: #ffd98a;
    --warn-paper: #33270a; --odd: #1b0605; --odd-paper: #ff9a90; --added: #7fdc9c; --added-paper: #10281a;
    --removed: #ffa49c; --removed-paper: #331312; }
}
`;
