/**
 * Files that an administrator wants served as they are: which file a path names, and its bytes. A
 * {@link lectus.http.folder.FolderResource} reads on readers' threads and keeps nothing.
 */
package lectus.http.folder;
