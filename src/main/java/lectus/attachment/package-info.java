/**
 * Contents of attachments: stored in chunks under their SHA-256, ahead of the documents that refer
 * to them, and swept when none does. The format gzip (RFC 1952), written and read part by part.
 */
package lectus.attachment;
