/**
 * Contents of attachments: stored in chunks under their SHA-256 before the documents that refer to
 * them, and swept when no document does. Also gzip (RFC 1952), written and read part by part.
 */
package lectus.attachment;
