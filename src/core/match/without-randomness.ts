/* oxlint-disable no-restricted-properties -- randomness is disabled here, not used */
const given = Math.random;
/** False if `Math` is frozen, as it may be in the sandbox of a run. */
const isWritable = !Object.isFrozen(Math);

/**
 * brace-expansion, which minimatch imports, makes five random words while it loads. In the workflow sandbox that
 * would fail before any run, or take numbers from the generator of a run, so that its ids would depend on when the
 * worker loads the bundle (I12). So `Math.random` is constant until `giveRandomBack`.
 */
if (isWritable) Math.random = () => 0.5;

export function giveRandomBack(): void {
  if (isWritable) Math.random = given;
}
