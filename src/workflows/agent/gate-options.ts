import type { RunInput } from '../../contract.ts';
import type { GateOptions } from '../state/active-policies.ts';
import { agentOf, recordedTool, type RunState } from './run-state.ts';

/** What the gate is told of a run: the policies of the agent in charge, and what they rule by. */
export function gateOptionsOf(state: RunState, { caller, metadata }: RunInput, lineage: string[]): GateOptions {
  const { ceiling, ceilingLines, parents, engine, auditSalt, redacts, tellsApart } = state.config;
  const { continueAsNewAfter, attributes, routes, announcesUserMessages, consultsAdvisors } = state.config;
  const { agent, run } = agentOf(state);
  return {
    agent,
    policies: { ceiling, parents, run },
    ceilingLines,
    caller,
    metadata,
    lineage,
    onParents: (changed) => {
      state.config = { ...state.config, parents: changed };
    },
    engine,
    schemaOf: (tool, definition) => recordedTool(state, tool, definition)?.schema,
    auditSalt,
    continueAsNewAfter,
    attributes,
    redacts,
    tellsApart,
    routes,
    announcesUserMessages,
    consultsAdvisors,
  };
}
