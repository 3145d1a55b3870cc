/** The style of the report: readable on paper, in the dark and on a telephone. */
export const reportStyle = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.45; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-top: 1px solid #8886; overflow-wrap: anywhere; }
th { width: 12rem; font-weight: 600; }
.journal th { width: auto; }
.journal { font-size: 0.85rem; }
section { break-inside: avoid; }
@media (max-width: 30rem) { th { width: 7rem; } }
`;
