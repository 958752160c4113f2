/** Native libraries that the jar carries. */
package lectus.packed;
