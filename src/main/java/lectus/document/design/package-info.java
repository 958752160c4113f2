/** The rules that apply to design documents alone; their functions are not run. */
package lectus.document.design;
