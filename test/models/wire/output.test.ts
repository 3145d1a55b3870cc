import { type LanguageModelV4, type LanguageModelV4CallOptions, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createCallModel } from '../../../src/activities/call-model.ts';
import type { CallModelInput, CallModelResult, KeptMessage } from '../../../src/activities/model-turn.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { createRegistry, definitionOf } from '../../../src/agents/registry.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { claudeThinks } from './anthropic.ts';
import { wireServersOfTests } from './started-servers.ts';
import { wireFormats, type WireFormat, type WireServer } from './wire-server.ts';

/** Every provider is told how a final answer is written, and takes the transcript after one that did not fit. */

const start = wireServersOfTests();

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  risk: 'read_only',
  execute: () => 'seen',
});
const strict = z.object({ team: z.enum(['billing', 'shipping']) });
const loose = strict.extend({ note: z.string().optional() });

interface How {
  streams: boolean;
  thinks?: boolean;
  tools?: [typeof look];
  output?: z.ZodObject;
}

/** Plays turns as a run does, until one of them is final and fits. */
function player({ model }: Pick<WireServer, 'model'>, { streams, thinks = false, tools, output = strict }: How) {
  const agent = defineAgent({
    name: 'triage',
    instructions: 'Be brief.',
    model,
    output,
    ...(tools !== undefined && { tools }),
    modelCall: { stream: streams ? 'on' : 'off', ...(thinks && { providerOptions: claudeThinks }) },
  });
  const callModel = createCallModel(createRegistry({ agents: [agent] }));
  const messages: KeptMessage[] = [{ role: 'user', content: 'Go' }];
  const turn = async (): Promise<CallModelResult> => {
    const input = {
      agent: 'triage',
      turn: 1,
      instructions: 'Be brief.',
      tools: agent.tools.map((tool) => definitionOf(tool)),
      messages,
    };
    const result = await new MockActivityEnvironment({}).run<[CallModelInput], CallModelResult, typeof callModel>(
      callModel,
      input,
    );
    const { text: content, calls, providerTurn, outputProblem } = result;
    const toolCalls = calls.map(({ id, tool: name, args = {} }) => ({ id, name, arguments: args }));
    messages.push(
      {
        role: 'assistant',
        content,
        ...(toolCalls.length > 0 && { toolCalls }),
        ...(providerTurn !== undefined && { providerTurn }),
        ...(outputProblem !== undefined && { outputProblem }),
      },
      ...toolCalls.map(({ id, name }) => ({
        role: 'tool' as const,
        toolCallId: id,
        toolName: name,
        content: 'seen',
      })),
    );
    return result;
  };
  return turn;
}

interface Request {
  output_config?: object;
  generationConfig?: { responseMimeType?: string; responseJsonSchema?: object };
  response_format?: object;
  text?: { format?: object };
}

/** The format that a request asks for, as its provider spells it. */
function formatOf(request: unknown): unknown {
  const { output_config: config, generationConfig, response_format: format, text } = request as Request;
  const { responseMimeType, responseJsonSchema } = generationConfig ?? {};
  return config ?? (responseMimeType && { responseMimeType, responseJsonSchema }) ?? format ?? text?.format;
}

const schema = expect.objectContaining({ properties: { team: { type: 'string', enum: ['billing', 'shipping'] } } });
const jsonObject = { type: 'json_object' };
const formats: Record<WireFormat, object> = {
  anthropic: { format: { type: 'json_schema', schema } },
  google: { responseMimeType: 'application/json', responseJsonSchema: schema },
  mistral: { type: 'json_schema', json_schema: { name: 'output', strict: false, schema } },
  'openai-chat': { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } },
  'openai-responses': { type: 'json_schema', name: 'output', strict: true, schema },
  deepseek: jsonObject,
  'gemini-openai': jsonObject,
};

const told = 'Error: output: ';

describe.each([true, false])('streaming: %s', (streams) => {
  test.each(wireFormats.flatMap((format) => [true, false].map((thinks) => [format, thinks] as const)))(
    '%s, beside tools (thinking: %s): in words alone',
    async (format, thinks) => {
      const reasoning = thinks ? { reasoning: 'I ponder.' } : {};
      const server = await start(format, [
        { ...reasoning, text: 'Let me look.', calls: [{ name: 'look', args: { at: 'a' } }] },
        { ...reasoning, text: 'It is for billing.' },
        { ...reasoning, calls: [{ name: 'look', args: { at: 'b' } }] },
        { ...reasoning, text: '{"team":"legal"}' },
        { ...reasoning, text: '{"team":"billing"}' },
      ]);
      const turn = player(server, { streams, thinks, tools: [look] });
      const results = [await turn(), await turn(), await turn(), await turn(), await turn()];
      expect(server.refusals).toEqual([]);
      expect(
        results.map(({ text, outputProblem, structuredOutput }) => structuredOutput ?? outputProblem ?? text),
      ).toEqual([
        'Let me look.',
        expect.stringMatching(/^output: /),
        '',
        expect.stringMatching(/^output\.team: /),
        { team: 'billing' },
      ]);
      expect(server.requests.map((request) => formatOf(request))).toEqual(server.requests.map(() => undefined));
      const texts = server.requests.map((request) => JSON.stringify(request));
      expect(texts.every((text) => text.includes('valid by this JSON Schema'))).toBe(true);
      expect(texts.map((text) => text.split('write the whole answer again').length - 1)).toEqual([0, 0, 1, 1, 2]);
      expect(texts[2]).toContain(told);
    },
  );

  test.each(wireFormats)('%s, without tools: in words, and as its own format', async (format) => {
    const server = await start(format, [{ text: 'Billing.' }, { text: '{"team":"billing"}' }]);
    const turn = player(server, { streams });
    expect((await turn()).outputProblem).toMatch(/^output: /);
    expect((await turn()).structuredOutput).toEqual({ team: 'billing' });
    expect(server.refusals).toEqual([]);
    expect(server.requests.map((request) => formatOf(request))).toEqual([formats[format], formats[format]]);
    expect(JSON.stringify(server.requests[1])).toContain(told);
  });

  test.each(['openai-chat', 'openai-responses'] as const)('%s, with a schema that it refuses: once', async (format) => {
    const server = await start(format, [{ text: 'Billing.' }, { text: '{"team":"billing"}' }]);
    const turn = player(server, { streams, output: loose });
    expect((await turn()).outputProblem).toMatch(/^output: /);
    expect((await turn()).structuredOutput).toEqual({ team: 'billing' });
    expect(server.refusals).toEqual([expect.stringMatching(/^Invalid schema for response_format/)]);
    expect(server.requests.map((request) => formatOf(request))).toEqual([undefined, undefined]);
  });

  test('a provider that refuses the format before it sends anything is asked without it', async () => {
    const scripted = scriptedModel([{ text: 'Billing.' }, { text: '{"team":"billing"}' }]);
    let refusals = 0;
    const refuse = ({ responseFormat }: LanguageModelV4CallOptions): void => {
      if (responseFormat === undefined) return;
      refusals += 1;
      throw new UnsupportedFunctionalityError({ functionality: 'responseFormat' });
    };
    const model: LanguageModelV4 = {
      ...scripted,
      doGenerate: async (options) => {
        refuse(options);
        return scripted.doGenerate(options);
      },
      doStream: async (options) => {
        refuse(options);
        return scripted.doStream(options);
      },
    };
    const turn = player({ model }, { streams });
    expect((await turn()).outputProblem).toMatch(/^output: /);
    expect((await turn()).structuredOutput).toEqual({ team: 'billing' });
    expect(refusals).toBe(1);
  });
});
