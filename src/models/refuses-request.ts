import { APICallError } from '@ai-sdk/provider';

/** Statuses that say what is wrong with a request, not who sent it or how often. */
const refusals = new Set([400, 404, 405, 406, 415, 422, 501]);

/** True if the server refused the request for what it asks. */
export function refusesRequest(error: unknown): error is APICallError {
  return APICallError.isInstance(error) && refusals.has(error.statusCode ?? 0);
}
