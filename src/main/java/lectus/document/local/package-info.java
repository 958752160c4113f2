/**
 * Local documents, {@code _local/…}: their subspace, and reading and removing single ones. They
 * have no revisions and no place in the changes index.
 */
package lectus.document.local;
