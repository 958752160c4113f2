/**
 * Checks that everything in a store is consistent: {@code lectus check}. Nothing is written here.
 * See docs/check.md.
 */
package lectus.audit;
