/** minimatch, loaded without using randomness; the order of these imports matters. */
import { giveRandomBack } from './without-randomness.ts';
import { Minimatch } from 'minimatch';

giveRandomBack();

export { Minimatch };
