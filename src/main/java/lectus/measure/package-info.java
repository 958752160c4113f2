/**
 * What parts of a server count while they run. Counting allocates nothing and never waits. Who
 * shows the figures, and how, is not known here.
 */
package lectus.measure;
