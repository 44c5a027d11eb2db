/// The party behind a command, and the request that brought it, for the audit log.
///
/// A class, so that commands carry a reference of eight bytes.
public final class AuditOrigin: Sendable {
    public let actor: AuditActor
    public let requestID: String?
    /// False if a change that is refused leaves no row, because the actor has many of them already.
    public let notesRefusals: Bool

    public init(_ actor: AuditActor, requestID: String? = nil, notesRefusals: Bool = true) {
        (self.actor, self.requestID, self.notesRefusals) = (actor, requestID, notesRefusals)
    }

    public static let service = AuditOrigin(.service)
    public static let apple = AuditOrigin(.apple)

    /// The origin of the work of this task. The interface binds it around the work of a request, the console
    /// around a page, and a command around its whole run; a command takes it when it is made. Work that no one
    /// asked for is the service's own.
    @TaskLocal public static var current = AuditOrigin.service

    /// Returns the same request with another actor, where a rule knows the actor better than the caller.
    public func acting(as actor: AuditActor) -> AuditOrigin {
        actor == self.actor
            ? self : AuditOrigin(actor, requestID: requestID, notesRefusals: notesRefusals)
    }

    public var withoutRefusals: AuditOrigin {
        AuditOrigin(actor, requestID: requestID, notesRefusals: false)
    }
}

extension AuditOrigin: Hashable {
    public static func == (one: AuditOrigin, other: AuditOrigin) -> Bool {
        one === other || (one.actor == other.actor && one.requestID == other.requestID)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(actor)
        hasher.combine(requestID)
    }
}
