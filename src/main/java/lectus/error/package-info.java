/**
 * All errors as values, and FoundationDB's codes by name. No status of HTTP is known here: {@link
 * lectus.http} maps errors to them.
 */
package lectus.error;
