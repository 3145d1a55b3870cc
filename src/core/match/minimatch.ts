/** minimatch, loaded without chance; the order of these imports is what does it. */
import { giveRandomBack } from './without-randomness.ts';
import { Minimatch } from 'minimatch';

giveRandomBack();

export { Minimatch };
