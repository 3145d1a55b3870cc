import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerBefore } from '../../../src/core/ledger/admission.ts';
import { emptyLedger } from '../../../src/core/ledger/ledger-state.ts';
import { limitsOf } from '../../../src/core/policy/limits.ts';
import type { Grant } from '../../../src/core/policy/grants.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { compilePolicy, engine, evaluate, type RuledCall } from '../../../src/core/policy/ruling.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import { notSplit } from '../../../src/core/shell/parts.ts';
import { splitShell } from '../../../src/shell/split.ts';
import { least, runs } from '../../support/thorough.ts';

/** A reviewer's word lasts as a rule's does: whatever a call looks like, a grant answers as a rule with its globs would. */

const harmless = fc.constantFrom('ls', 'ls -l /srv', 'git status', 'echo rm', 'make test', "printf '%s' x");
const harmful = fc.constantFrom('rm -rf /', 'rm x', '/bin/rm x', "'rm' x", 'r\\m x', 'git push --force', 'make deploy');
const wrapped = fc.tuple(
  fc.oneof(harmless, harmful),
  fc.constantFrom<(command: string) => string>(
    (command) => command,
    (command) => `true; ${command}`,
    (command) => `${command} && ls`,
    (command) => `ls | ${command}`,
    (command) => `sudo ${command}`,
    (command) => `sudo -u www ${command}`,
    (command) => `env A=1 ${command}`,
    (command) => `docker exec box ${command}`,
    (command) => `sh -c '${command.replaceAll("'", '')}'`,
    (command) => `xargs ${command}`,
    (command) => `find . -exec ${command} {} ;`,
    (command) => `$(${command})`,
    (command) => `${command} > /tmp/x`,
    (command) => `# ${'x'.repeat(17_000)}\n${command}`,
    (command) => `${'ls; '.repeat(300)}${command}`,
    (command) => `r\0${command}`,
    (command) => `((${command}`,
  ),
);
const command = wrapped.map(([inner, wrap]): Json => wrap(inner));
const odd = fc.constantFrom<(text: string) => Json>(
  (text) => text,
  (text) => [text],
  (text) => ['bob@acme.com', [text]],
  (text) => ({ address: text }),
  (text) => `\ufdd0${text}`,
  (text) => `${text}${'\u0301'.repeat(101)}`,
  (text) => `${'x'.repeat(600_000)}${text}`,
  (text) => text.toUpperCase(),
);
const address = fc
  .tuple(fc.constantFrom('eve@evil.example', 'bob@acme.com', '5'), odd)
  .map(([text, wrap]): Json => wrap(text));

interface Asked {
  call: RuledCall;
  match: Record<string, string>;
}

const ofShell = fc
  .record({
    command: fc.oneof({ weight: 9, arbitrary: command }, { weight: 1, arbitrary: command.map((text): Json => [text]) }),
    beside: fc.option(fc.constant({ env: { A: '1' } }), { nil: {}, freq: 4 }),
    glob: fc.constantFrom('rm *', 'rm*', '*rm*', 'git push*', 'make deploy', 'ls*', 'git *', '*', 'sudo rm *'),
  })
  .map(({ command: text, beside, glob }): Asked => {
    const shell = typeof text === 'string' ? splitShell(text) : notSplit;
    const args = { command: text, ...beside };
    return {
      call: { tool: 'bash', args, risk: 'write', subject: 'command', shell },
      match: { command: glob },
    };
  });
const ofMail = fc
  .record({
    to: fc.option(address, { nil: undefined, freq: 6 }),
    glob: fc.constantFrom('*@evil.example', '*evil*', 'bob@*', '*', '5'),
  })
  .map(({ to, glob }): Asked => ({
    call: { tool: 'mail', args: to === undefined ? {} : { to }, risk: 'write' },
    match: { to: glob },
  }));
const asked = fc.oneof(ofShell, ofMail);

const ruling = ({ call, match }: Asked, action: 'allow' | 'deny') => {
  const rules: Policy['rules'] = [{ pattern: '*', args: match, action }];
  const riskDefaults = { read_only: 'ask', write: 'ask', destructive: 'ask' } as const;
  const run = compilePolicy({ version: 1, rules, riskDefaults, approval: {} }, 'run');
  return evaluate({ run }, call).action;
};
const grantOf = ({ call: { tool }, match }: Asked, approved: boolean): Grant => ({
  grantId: 'grant-1',
  tool,
  approved,
  scope: { kind: 'arguments', match },
});

test('whatever a deny rule denies, a standing denial with the same globs denies', () => {
  let denied = 0;
  fc.assert(
    fc.property(asked, (each) => {
      const ledger = { ...emptyLedger(engine), grants: [grantOf(each, false)], open: [] };
      const call = { ruled: each.call, digest: 'd', reversible: true, atMs: 0 };
      const answer = answerBefore(ledger, { action: 'allow' }, call, limitsOf({}));
      expect(answer?.outcome === 'denied').toBe(ruling(each, 'deny') === 'deny');
      if (answer !== undefined) denied++;
    }),
    { numRuns: runs(2_000) },
  );
  expect(denied).toBeGreaterThan(least(400));
});

test('whatever an allow rule does not allow, a grant with the same globs does not, unless it spells the command', () => {
  let allowed = 0;
  fc.assert(
    fc.property(asked, (each) => {
      const run = compilePolicy(
        {
          version: 1,
          rules: [{ pattern: '*', action: 'ask', ask: { always: 'tool' } }],
          riskDefaults: {},
          approval: {},
        },
        'run',
      );
      const { action } = evaluate({ run }, each.call, { grants: [grantOf(each, true)] });
      if (action !== 'allow') return;
      allowed++;
      if (each.call.args.command !== each.match.command) expect(ruling(each, 'allow')).toBe('allow');
    }),
    { numRuns: runs(2_000) },
  );
  expect(allowed).toBeGreaterThan(least(100));
});
