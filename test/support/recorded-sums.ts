/** A recorded run whose rules add up what it pays. It continues as new, is changed, and counts on. */
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { finished, no, pay, type RecordedRun, yes } from './play-runs.ts';

const fits = "sum('pay', 'amount') + args.amount <= 100.0";
export const payingUpTo100: JsonObject = { rules: [{ id: 'fits', pattern: 'pay', when: fits, action: 'allow' }] };

export const recordedSums: RecordedRun[] = [
  {
    name: 'sums',
    world: { continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      // 60 runs. People are asked about 60 and 30, and approve 30. So 10 fits, and they are asked about 20.
      const turns = [{ calls: [pay(60), pay(60), pay(30)] }, { calls: [pay(10), pay(20)] }, { text: 'paid' }];
      const run = await world.start(turns, { policy: payingUpTo100 });
      const [over, another] = await run.open(2);
      await run.handle.signal('decide', no(over!, 'too much'));
      await run.handle.signal('decide', yes(another!));
      const [last] = await run.open();
      await run.handle.signal('decide', yes(last!));
      return finished(run);
    },
  },
];
