/** Payload codecs, shared by the workers and clients of an encrypted namespace. */
export { codecServer, type CodecServerOptions, RemoteCodec, type RemoteCodecOptions } from './codec/codec-server.ts';
export { encrypted, EncryptionCodec, type EncryptionCodecOptions } from './codec/encryption-codec.ts';
export type { EncryptionKey, KeySource } from './codec/encryption-codec.ts';
