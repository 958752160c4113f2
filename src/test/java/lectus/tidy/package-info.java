/**
 * What is agreed on about the sources, held by tests: sizes, names, habits. CONTRIBUTING.md has it
 * in words. What depends on what is {@code LayeringTest}'s.
 */
package lectus.tidy;
