import { expect, test } from 'vitest';
import type { AuditLine } from '../../src/audit/audit-line.ts';
import { entryLine } from '../../src/audit/entry-line.ts';
import { auditReport } from '../../src/audit/report.ts';
import { sampleExport } from './audit-sample.ts';

const lines = (options = {}): AuditLine[] =>
  sampleExport(options)
    .map((text) => JSON.parse(text) as AuditLine)
    .filter((line) => !('run' in line) || line.run === 1);

/** The text of the cells of the row with this name. */
function cells(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`<tr><th>${name}</th><td>(.*?)</td></tr>`, 'g'))].map(([, cell]) => cell!);
}

test('says who was entitled, what they saw, what they decided and what happened', () => {
  const all = lines();
  const [opened, , settled] = all.filter((line) => line.line === 'entry');
  Object.assign(opened!.entry, { to: ['finance', 'ann'] });
  Object.assign(settled!.entry, { viewed: { channel: 'slack', card: 'c'.repeat(64), durationMs: 1800 } });
  all.splice(-2, 0, {
    line: 'activity',
    run: 1,
    callId: '1.1',
    activity: 'pay',
    runId: 'r',
    scheduledEventId: 11,
    scheduledAt: '2030-01-31T12:00:01.000Z',
    state: 'completed',
  });
  const html = auditReport(all);
  expect(cells(html, 'Entitled')[0]).toMatch(/finance.*ann/);
  expect(cells(html, 'Decided')).toEqual([
    expect.stringMatching(/^ann \(verified\) approved/),
    expect.stringMatching(/^bob \(claimed\) approved/),
  ]);
  expect(cells(html, 'Was shown')).toEqual(['not recorded', `card ${'c'.repeat(64)}, by slack, for 1800 ms`]);
  expect(cells(html, 'What ran')[0]).toMatch(/^pay: completed/);
  expect(cells(html, 'Outcome')[0]).toBe('approved; ran: yes');
  expect(cells(html, 'Identity of who decided')).toEqual(['1 verified by a key, 1 claimed, 0 unnamed']);
  expect(cells(html, 'Head of this report')[0]).toMatch(/, the same$/);
});

test('says of a call that its result was withheld', () => {
  const all = lines();
  for (const line of all) {
    if (line.line === 'entry' && line.entry.kind === 'ran') Object.assign(line.entry, { code: 'result_withheld' });
  }
  expect(cells(auditReport(all), 'Outcome')[0]).toBe('approved; ran: yes, result withheld');
});

test('says of a call that the result of another one answered it', () => {
  const all = lines();
  for (const line of all) {
    if (line.line === 'entry' && line.entry.kind === 'settled') {
      Object.assign(line.entry, { outcome: 'cached', resultOf: '0.9<' });
    }
    if (line.line === 'entry' && line.entry.kind === 'ran') Object.assign(line.entry, { ran: 'no' });
  }
  expect(cells(auditReport(all), 'Outcome')[0]).toBe('cached, by the result of call 0.9&lt;; ran: no');
});

test('runs nothing and loads nothing, whatever people wrote', () => {
  const hostile = `</td><script>alert(1)</script><img src=x onerror=alert(1)>"'&\u202e`;
  const all = lines().map(
    (line) => JSON.parse(JSON.stringify(line).replaceAll('alice', JSON.stringify(hostile).slice(1, -1))) as AuditLine,
  );
  const html = auditReport(all);
  expect(html).not.toMatch(/<(?:script|img|iframe|link|object)|\son\w+="|https?:|\u202e/);
  expect(html).toContain('&lt;script&gt;');
  expect(html).toContain('\\u{202E}');
  const tags = new Set([...html.matchAll(/<(\w+)/g)].map(([, tag]) => tag));
  expect(tags).toEqual(
    new Set([
      'body',
      'code',
      'h1',
      'h2',
      'h3',
      'head',
      'html',
      'meta',
      'section',
      'style',
      'table',
      'td',
      'th',
      'title',
      'tr',
    ]),
  );
});

test('shows a person by name and id, and a withheld id with no name', () => {
  const named = (options = {}): AuditLine[] => {
    const all = lines(options);
    for (const line of all) {
      if (line.line === 'entry') Object.assign(line.entry, { reviewerName: 'Ann <Lee> (bob)' });
    }
    return all;
  };
  expect(cells(auditReport(named()), 'Decided')[0]).toMatch(/^Ann &lt;Lee&gt; \[bob\] \(ann\) \(verified\) approved/);
  expect(cells(auditReport(named({ withheld: ['reviewerId'] })), 'Decided')[0]).toMatch(/^withheld \(verified\)/);
});

test('who withholds the id withholds the name', () => {
  const entry = { seq: 1, kind: 'settled', at: 'x', engine: 1, reviewerId: 'u-17', reviewerName: 'Ann Lee' } as const;
  const shown = (withheld: string[]) =>
    entryLine({
      run: 1,
      workflowId: 'w',
      entry,
      context: {} as never,
      saltOf: () => '00',
      withheld: new Set(withheld),
    });
  expect(shown([]).entry).toMatchObject({ reviewerName: 'Ann Lee' });
  const { entry: left, withheld } = shown(['reviewerId']);
  expect([left['reviewerName'], Object.keys(withheld!)]).toEqual([undefined, ['reviewerId', 'reviewerName']]);
});

test('says what is withheld', () => {
  const html = auditReport(lines({ withheld: ['reviewerId', 'reason'] }));
  expect(cells(html, 'Decided')[0]).toMatch(/^withheld \(verified\) approved/);
  expect(html).not.toMatch(/\bann\b|\bbob\b/);
});
