import { ProblemError } from 'countersign/base';
import type { GatewayContext } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';

/** The open streams of a gateway, and those of each person. */
const openStreams = new WeakMap<GatewayContext, { all: number; byPerson: Map<string, number> }>();

/** Counts a stream that opens, and returns the function that uncounts it. Throws `rate_limited` if there are too many. */
export function countStream(
  gateway: GatewayContext,
  principal: Principal | undefined,
  limits: { most: number; mostOfOne: number },
): () => void {
  const open = openStreams.get(gateway) ?? { all: 0, byPerson: new Map<string, number>() };
  openStreams.set(gateway, open);
  // Without authentication everybody is one person.
  const person = principal === undefined || principal.via === 'local' ? undefined : principal.key;
  const own = person === undefined ? 0 : (open.byPerson.get(person) ?? 0);
  if (open.all >= limits.most || own >= limits.mostOfOne) {
    const whose = open.all >= limits.most ? 'This gateway has' : 'You have';
    throw new ProblemError({
      code: 'rate_limited',
      message: `${whose} too many open streams: close some, or try again.`,
    });
  }
  open.all += 1;
  if (person !== undefined) open.byPerson.set(person, own + 1);
  return () => {
    open.all -= 1;
    if (person === undefined) return;
    const left = open.byPerson.get(person)! - 1;
    if (left === 0) open.byPerson.delete(person);
    else open.byPerson.set(person, left);
  };
}
