import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import { runs } from '../../support/thorough.ts';

/** The command `schemathesis`, if it is installed here. */
const command = process.env.COUNTERSIGN_TEST_SCHEMATHESIS;
/**
 * Answers that are streams, which schemathesis would wait for; forms of pages, which only the gateway's own pages send; and
 * what would start work or sign the sender out.
 */
const left = ['/events', '/login', '/logout', '/links', '/slack', '/ag-ui', '/ai-sdk'];
const seed = 14;

let world: GatewayWorld;
const folder = mkdtempSync(join(tmpdir(), 'countersign-fuzz-'));
const failures: string[] = [];
beforeAll(async () => {
  const unlimited = { readsPerMinute: 1_000_000, writesPerMinute: 1_000_000 };
  world = await openGatewayWorld(
    { agentPolicy: rule('pay', 'ask') },
    { limits: unlimited, log: (line) => failures.push(line) },
  );
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const withSchemathesis = command === undefined ? describe.skip : describe;

withSchemathesis('fuzzing (needs Schemathesis)', () => {
  test('no input makes a route fail, and every answer has the shape that the document says', async () => {
    const run = await world.start(once(pay('bob')));
    const [request] = await run.open();
    writeFileSync(join(folder, 'schemathesis.toml'), identifiers(run.workflowId, request!.requestId));
    const report = join(folder, 'report.xml');
    const words = [
      'run',
      new URL('/openapi.json', world.gateway.url).href,
      '--checks=not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,unsupported_method',
      '--phases=examples,coverage,fuzzing',
      `--max-examples=${runs(8)}`,
      // Threads break its generator on some versions of Python.
      '--workers=1',
      '--request-timeout=120',
      '--continue-on-failure',
      `--exclude-path-regex=(${left.join('|')})`,
      '--report=junit',
      `--report-junit-path=${report}`,
      '--no-color',
    ];
    let { code, output } = await runSchemathesis([...words, `--seed=${seed}`]);
    // Its generator of inputs may fail by itself. That says nothing about the gateway.
    for (let more = 1; more <= 2 && isOwnFault(output); more++) {
      ({ code, output } = await runSchemathesis([...words, `--seed=${seed + more}`]));
    }
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    expect(readFileSync(report, 'utf8')).toContain('/approve/{requestId}');
    expect(failures).toEqual([]);
    // Two thousand requests, one after another: beside other work each takes a second.
  }, 1_800_000);
});

function isOwnFault(output: string): boolean {
  const hasOwn = /hypothesis\.errors\.FlakyFailure|^Runtime Error$/m.test(output);
  return hasOwn && !/= FAILURES =|^Network Error$/m.test(output);
}

/**
 * Half of the ids are those of a run that waits, so that not every answer is a 404. 503 is no failure: on a busy machine a
 * worker may not answer in time.
 */
function identifiers(workflowId: string, requestId: string): string {
  return [
    '[dictionaries.runs]',
    `values = ["${workflowId}"]`,
    '[dictionaries.requests]',
    `values = ["${requestId}"]`,
    '[checks]',
    'not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]',
    '[parameters]',
    '"path.id" = { dictionary = "runs", probability = 0.5 }',
    '"query.workflowId" = { dictionary = "runs", probability = 0.5 }',
    '"path.requestId" = { dictionary = "requests", probability = 0.5 }',
  ].join('\n');
}

function runSchemathesis(words: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command!, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
