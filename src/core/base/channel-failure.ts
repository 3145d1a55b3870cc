/**
 * The first detail of a failure that a channel's own function threw. Every other failure of a channel's activity, by
 * whatever made it, says nothing about the channel: the call is made again.
 */
export const thrownByChannel = 'thrown by the channel';
