import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A text as HTML, for the content of an element or for a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

/** A page: `body` is HTML, `title` is text. */
interface Page {
  title: string;
  style: string;
  body: string;
  /** True: the page has forms, which send to its own origin. Default false. */
  forms?: boolean;
}

/** The content security policy of a page: it may use its own style, and send its forms, if any, to its own origin. */
export function pagePolicy({ style, forms = false }: Pick<Page, 'style' | 'forms'>): string {
  const styleSource = `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(style))))}'`;
  const formAction = forms ? `'self'` : `'none'`;
  return `default-src 'none'; style-src ${styleSource}; base-uri 'none'; form-action ${formAction}`;
}

/** A whole page that loads nothing, runs nothing and allows no other style. */
export function htmlPage({ title, style, body, forms }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy({ style, forms })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>`;
}
