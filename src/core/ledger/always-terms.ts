import type { RequestedScope } from '../messages/decision.ts';
import type { GrantKind } from '../policy/policy.ts';
import type { RequestRecord } from './ledger-state.ts';

/** What an "always" of an open request may cover, for those who offer one. */
export interface AlwaysTerms {
  /** The widest grant that the rules which asked admit. A wider one is narrowed to `call`. */
  widest: GrantKind;
  /**
   * The argument that holds a shell command, if there is one. A grant of kind `arguments` then has to match each part of
   * the command by itself, and to name every other argument that is not in `beside`.
   */
  command?: { argument: string; beside: string[] };
}

/** Undefined if the rules admit no grant. */
export function alwaysTermsOf({ terms, ruled }: Pick<RequestRecord, 'terms' | 'ruled'>): AlwaysTerms | undefined {
  const { always: widest } = terms;
  if (widest === false) return undefined;
  const { subject, shell, beside = [] } = ruled;
  if (subject === undefined || shell === undefined) return { widest };
  return { widest, command: { argument: subject, beside: [...beside] } };
}

/** Returns the `always` of a card on a screen where the reviewer chooses the scope of "always" in a second step. */
export function chosenScope(terms: AlwaysTerms | undefined): GrantKind | 'chosen' | false {
  if (terms === undefined) return false;
  return terms.widest === 'tool' ? 'chosen' : terms.widest;
}

/** What an "always" grants that is given by one press, where nobody can narrow it: the tool if the rules admit that, else the call. */
export function pressedScope({ widest }: AlwaysTerms): RequestedScope {
  return { kind: widest === 'tool' ? 'tool' : 'call' };
}
