/**
 * {@code lectus check}: compares all subspaces of a store with each other, and can repair
 * disagreements. See docs/check.md.
 */
package lectus.audit;
