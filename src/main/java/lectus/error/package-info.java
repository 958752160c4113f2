/**
 * All errors as values, and FoundationDB's codes by their names. Which status of HTTP an error has
 * is for {@link lectus.http} to say.
 */
package lectus.error;
