/** Local documents, {@code _local/…}: their subspace, and reading and removing single ones. */
package lectus.document.local;
