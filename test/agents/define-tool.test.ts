import { describe, expect, test } from 'vitest';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { tool as aiSdkTool } from 'ai';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { defineTool, type ToolOptions } from '../../src/agents/define-tool.ts';
import { isTool } from '../../src/agents/definitions.ts';
import { definitionOf } from '../../src/agents/registry.ts';
import type { ToolSchema } from '../../src/agents/tool-schema.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';

const options = {
  name: 'move_file',
  description: 'Moves a file',
  input: z.object({ from: z.string(), to: z.string(), mode: z.enum(['keep', 'replace']).default('keep') }),
  execute: ({ from, to }: { from: string; to: string }) => `${from} → ${to}`,
};

/** Calls `defineTool` with any options, as an untyped caller can. */
const define = (overrides: object): unknown =>
  defineTool({ ...options, ...overrides } as unknown as ToolOptions<ToolSchema>);

describe('defineTool', () => {
  test('fills in defaults', () => {
    const tool = defineTool(options);
    expect(tool).toMatchObject({ risk: 'write', idempotent: false, heartbeatTimeoutMs: 30_000, timeoutMs: 600_000 });
    expect(tool).not.toHaveProperty('subject');
    expect(isTool(tool)).toBe(true);
    expect(isTool({ ...options })).toBe(false);
  });

  test('keeps explicit values', () => {
    const tool = defineTool({
      ...options,
      risk: 'destructive',
      subject: 'from',
      idempotent: true,
      heartbeat: { timeoutMs: 5_000 },
      timeoutMs: 1_000,
    });
    expect(tool).toMatchObject({ risk: 'destructive', subject: 'from', idempotent: true, timeoutMs: 1_000 });
    expect(tool.heartbeatTimeoutMs).toBe(5_000);
    expect(defineTool({ ...options, heartbeat: false }).heartbeatTimeoutMs).toBeNull();
  });

  test('accepts a shell subject', () => {
    const tool = defineTool({ ...options, subject: { argument: 'from', shell: true } });
    expect(tool).toMatchObject({ subject: 'from', shellSubject: true });
    expect(tool).not.toHaveProperty('beside');
    expect(defineTool({ ...options, subject: 'from' })).not.toHaveProperty('shellSubject');
  });

  test('accepts arguments that are harmless beside a command, and keeps a copy', () => {
    const beside: ('to' | 'mode')[] = ['to'];
    const tool = defineTool({ ...options, subject: { argument: 'from', shell: true, beside } });
    beside.push('mode');
    expect(tool.beside).toEqual(['to']);
    expect(Object.isFrozen(tool.beside)).toBe(true);
  });

  test('keeps a copy of the arguments to show, which are no part of what a grant is bound to', () => {
    const show: ('from' | 'to')[] = ['from'];
    const tool = defineTool({ ...options, show });
    show.push('to');
    expect(tool.show).toEqual(['from']);
    expect(Object.isFrozen(tool.show)).toBe(true);
    expect(defineTool(options)).not.toHaveProperty('show');
    expect(definitionOf(tool).definition).toBe(definitionOf(defineTool(options)).definition);
  });

  test.each([[['from', 'from']], ['from'], [[1]], [['']], [Array.from({ length: 21 }, (_, each) => `n${each}`)]])(
    'refuses to show %j',
    (show) => {
      expect(() => define({ show })).toThrow("tool 'move_file': show must be a list of at most 20 different argument");
    },
  );

  test('keeps describe, which is no part of the definition', () => {
    const describe = ({ from }: { from: string }): string => `Move ${from}`;
    const tool = defineTool({ ...options, describe });
    expect(tool).toHaveProperty('describe', describe);
    expect(definitionOf(tool)).toEqual(definitionOf(defineTool(options)));
    expect(defineTool(options)).not.toHaveProperty('describe');
    expect(() => define({ describe: 'Move a file' })).toThrow(
      "tool 'move_file': describe must be a function that returns one sentence",
    );
  });

  test('keeps a preview with its time-out, which the run records beside the definition', () => {
    const preview = () => [];
    const tool = defineTool({ ...options, preview });
    expect(tool).toHaveProperty('preview', preview);
    const { definition } = definitionOf(defineTool(options));
    expect(definitionOf(tool)).toMatchObject({ previewTimeoutMs: 10_000, definition });
    expect(definitionOf(defineTool({ ...options, preview, previewTimeoutMs: 5 }))).toMatchObject({
      previewTimeoutMs: 5,
    });
    expect(definitionOf(defineTool(options)).previewTimeoutMs).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ preview: [] }, 'preview must be a function that returns a list of changes'],
    [{ preview: () => [], previewTimeoutMs: 0 }, 'previewTimeoutMs: expected a whole number from 1 to 600000'],
    [{ preview: () => [], previewTimeoutMs: 600_001 }, 'previewTimeoutMs: expected a whole number from 1 to 600000'],
    [{ previewTimeoutMs: 1_000 }, 'previewTimeoutMs goes with preview'],
    [{ bind: 'preview' }, 'bind goes with preview'],
    [{ reconcile: 'no' }, "reconcile must be a function that returns { ran: 'yes', 'no' or 'unknown' }"],
    [{ preview: () => [], bind: true }, "bind must be 'preview'"],
  ])('refuses %j', (overrides, message) => {
    expect(() => define(overrides)).toThrow(message);
  });

  test('gives the model the JSON Schema of the input', () => {
    const { schema } = defineTool(options);
    expect(schema).toEqual(z.toJSONSchema(options.input, { io: 'input' }));
    expect(schema['required']).toEqual(['from', 'to']);
  });

  test('accepts zod/mini schemas', () => {
    const tool = defineTool({
      name: 'a',
      description: '',
      input: mini.object({ a: mini.string() }),
      execute: ({ a }) => a.length,
    });
    expect(tool.schema['type']).toBe('object');
  });

  test('accepts schemas of other libraries, with the types of their arguments', () => {
    const base = { name: 'a', description: '' };
    const ark = type({ path: 'string', 'times?': 'number' });
    const valibot = toStandardJsonSchema(v.object({ path: v.string(), times: v.optional(v.number()) }));
    const tools = [
      defineTool({ ...base, input: ark, subject: 'path', execute: ({ path, times = 1 }) => path.repeat(times) }),
      defineTool({ ...base, input: valibot, subject: 'path', execute: ({ path, times = 1 }) => path.repeat(times) }),
    ];
    expect(tools.map(({ schema }) => schema['required'])).toEqual([['path'], ['path']]);
    expect(() => define({ input: ark, subject: 'pat' })).toThrow('an argument of its input (path, times)');
  });

  test.each([['a'], ['read_file'], ['A-1'], ['x'.repeat(64)], ['Default'], ['prototype']])(
    'accepts the name %j',
    (name) => {
      expect(defineTool({ ...options, name }).name).toBe(name);
    },
  );

  const nameShape = "expected 1 to 64 letters, digits, '_' or '-'";
  test.each<[string | undefined, string]>([
    ['', `tool name "": ${nameShape}`],
    ['a.b', `tool name "a.b": ${nameShape}`],
    ['a b', `tool name "a b": ${nameShape}`],
    ['a\n', `tool name "a\\n": ${nameShape}`],
    ['x'.repeat(65), `tool name "${'x'.repeat(65)}": ${nameShape}`],
    ['é', `tool name "é": ${nameShape}`],
    [undefined, `tool name undefined: ${nameShape}`],
    [
      'default',
      "tool name 'default' is taken: Temporal runs an activity of that name for every unknown one; choose another name",
    ],
    ...[...Object.getOwnPropertyNames(Object.prototype), 'then'].map((name): [string, string] => [
      name,
      `tool name '${name}' is taken by a property of every object; choose another name`,
    ]),
  ])('refuses the name %j', (name, sentence) => {
    expect(() => define({ name })).toThrow(expect.objectContaining({ name: 'DefinitionError', message: sentence }));
  });

  test.each([
    [{ risky: true }, /^defineTool: unknown option 'risky': did you mean 'risk'\?$/],
    [
      aiSdkTool({ description: '', inputSchema: z.object({}), execute: () => null }),
      /^defineTool: 'inputSchema' is the AI SDK's name for the schema: give it as input$/,
    ],
    [{ risk: 'unknown' }, /^tool 'move_file': risk must be one of read_only, write, destructive$/],
    [{ description: 1 }, /^tool 'move_file': description must be text$/],
    [{ cache: true, risk: 'read_only' }, /^tool 'move_file': cache must be one of run, session$/],
    [
      { cache: 'run' },
      /^tool 'move_file': cache needs risk 'read_only', because a repeated call would not run; leave it out$/,
    ],
    [{ cache: 'session', risk: 'destructive' }, /^tool 'move_file': cache needs risk 'read_only'/],
    [{ idempotent: 'no' }, /^tool 'move_file': idempotent must be true or false$/],
    [{ execute: 'rm' }, /^tool 'move_file': execute must be a function$/],
    [{ timeoutMs: 0 }, /^tool 'move_file': timeoutMs: expected a whole number from 1 to \d+$/],
    [{ timeoutMs: Infinity }, /^tool 'move_file': timeoutMs: expected a whole number/],
    [{ timeoutMs: '10m' }, /^tool 'move_file': timeoutMs: expected a whole number/],
    [{ heartbeat: true }, /^tool 'move_file': heartbeat: expected an object with timeoutMs$/],
    [{ heartbeat: { timeoutMs: 1.5 } }, /^tool 'move_file': heartbeat.timeoutMs: expected a whole number/],
    [{ heartbeat: { timeout: 1 } }, /^tool 'move_file': heartbeat: unknown option 'timeout'/],
    [{ subject: 'path' }, /^tool 'move_file': subject must name an argument of its input \(from, to, mode\)$/],
    [{ subject: 'toString' }, /^tool 'move_file': subject must name an argument/],
    [{ subject: 1 }, /^tool 'move_file': subject must name an argument of its input \(from, to, mode\)$/],
    [{ subject: null }, /^tool 'move_file': subject: expected an object with argument, shell, beside$/],
    [{ subject: ['from'] }, /^tool 'move_file': subject: expected an object with argument, shell, beside$/],
    [{ subject: { argument: 'from', shel: true } }, /^tool 'move_file': subject: unknown option 'shel'/],
    [
      { subject: { argument: 'from' } },
      /^tool 'move_file': subject.shell must be true; for any other text name the argument alone$/,
    ],
    [{ subject: { argument: 'from', shell: 'yes' } }, /^tool 'move_file': subject.shell must be true/],
    [
      { subject: { argument: 'path', shell: true } },
      /^tool 'move_file': subject.argument must name an argument of its input \(from, to, mode\)$/,
    ],
    [{ subject: { argument: 'toString', shell: true } }, /^tool 'move_file': subject.argument must name an argument/],
    [{ subject: { shell: true } }, /^tool 'move_file': subject.argument must name an argument/],
    [
      { input: z.object({ argv: z.array(z.string()) }), subject: { argument: 'argv', shell: true } },
      /^tool 'move_file': subject.argument must name an argument that is text$/,
    ],
    ...[['path'], ['from'], [1], ['toString'], 'to', null].map((beside): [object, RegExp] => [
      { subject: { argument: 'from', shell: true, beside } },
      /^tool 'move_file': subject.beside must list arguments beside 'from' \(to, mode\)$/,
    ]),
    [{ subject: { argument: 'from', beside: ['to'] } }, /^tool 'move_file': subject.shell must be true/],
  ])('refuses %j', (overrides, sentence) => {
    expect(() => define(overrides)).toThrow(sentence);
  });

  test.each([[undefined], [null], ['text'], [[]]])('refuses %j as options', (value) => {
    expect(() => defineTool(value as never)).toThrow(/^defineTool: expected an object with name/);
  });
});

test('what a tool pins belongs to its definition', () => {
  const of = (pinned?: JsonObject): string =>
    definitionOf(
      defineTool({
        name: 'a',
        description: '',
        input: z.object({}),
        ...(pinned !== undefined && { pinned }),
        execute: () => null,
      }),
    ).definition;
  expect(new Set([of(), of({}), of({ version: 1 }), of({ version: 2 })]).size).toBe(4);
  expect(() => of(7 as never)).toThrow("tool 'a': pinned must be an object of JSON");
});
