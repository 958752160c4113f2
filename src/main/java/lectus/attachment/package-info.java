/**
 * Contents of attachments: stored in chunks under their SHA-256, ahead of the documents that refer
 * to them, and swept when none does.
 */
package lectus.attachment;
