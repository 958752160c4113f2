/**
 * Purges: what a request wants to be purged, what was purged lately, and the removal of old
 * tombstones. What a purge writes is not known here.
 */
package lectus.document.purge;
