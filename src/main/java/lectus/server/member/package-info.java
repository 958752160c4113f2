/**
 * Requests from one member of a cluster to another over the event bus: {@code
 * lectus.server.member.MemberBus} asks, {@code lectus.server.member.MemberDesk} answers. Whose
 * rights they are was checked where they came from; each is signed with a secret that only servers
 * of the same store know. What is asked is not known here.
 */
package lectus.server.member;
