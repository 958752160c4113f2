/**
 * What replicators ask for many documents at once: which revisions are missing, and those that are
 * ({@code _revs_diff}, {@code _missing_revs}, {@code _bulk_get}). Nothing is written here.
 */
package lectus.document.bulk;
