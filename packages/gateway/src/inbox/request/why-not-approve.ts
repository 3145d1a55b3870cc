import type { ApprovalDetails } from 'countersign/client';

/** Why the call cannot be approved from what is on the screen; undefined if all of it is there. */
export function whyNotApprove({ shown, preview }: ApprovalDetails, isWhole: boolean): string | undefined {
  if (shown !== 'all') return 'Not all arguments are shown to you, so it cannot be approved here: deny or respond.';
  if (preview?.state === 'pending') return 'The tool is still working out what would change.';
  return isWhole ? undefined : 'Not all is on this card. Press "Show everything" before you approve it.';
}
