/** What is particular about design documents, as long as none of their functions is run. */
package lectus.document.design;
