/**
 * Tests of the rules for the sources: sizes, names, habits. CONTRIBUTING.md has the rules in words.
 * {@code LayeringTest} checks which package depends on which.
 */
package lectus.tidy;
