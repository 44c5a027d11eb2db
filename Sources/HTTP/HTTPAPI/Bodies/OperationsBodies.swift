public import AppleAccounts
public import KeySets
public import StrictJSON

// The response bodies of the endpoints for operators.

/// The liveness response. A process that responds is alive.
struct LivenessStatus: JSONBody {
    static var schemaName: String { "Status" }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("status", .words(["alive", "ready"], "`alive` or `ready`.")) { _ in "alive" }
    }
}

struct Readiness: JSONBody {
    static var schemaName: String { "Readiness" }
    let warnings: [ServiceWarnings.Warning]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("status", .words(["ready"], "The status of the service.")) { _ in "ready" }
        member("warnings", .warnings) { $0.warnings.map(\.rawValue).unlessEmpty }
    }
}

struct Health: JSONBody {
    static var schemaName: String { "Health" }
    let version: String
    let storage: StorageError.Code?
    let keys: KeySetHealth
    let warnings: [ServiceWarnings.Warning]

    var isReady: Bool { storage == nil && keys.isReady }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("status", .words(["ready", "unavailable"], "The status of the service.")) {
            $0.isReady ? "ready" : "unavailable"
        }
        member("version", .nonEmpty("The version of the program.")) { $0.version }
        member("database") { Database(cause: $0.storage) }
        member("keys") { $0.keys }
        member("warnings", .warnings) { $0.warnings.map(\.rawValue).unlessEmpty }
    }

    struct Database: JSONBody {
        static var schemaName: String { "DatabaseHealth" }
        let cause: StorageError.Code?

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("status", .words(["ready", "unavailable"], "The status of the database.")) {
                $0.cause == nil ? "ready" : "unavailable"
            }
            member("cause") { $0.cause }
        }
    }
}

extension JSONSchema {
    fileprivate static var warnings: JSONSchema {
        .component("ServiceWarnings") {
            [
                "type": "array", "minItems": 1,
                "description":
                    "Mistakes that an operator must correct although the service is ready. Absent without mistakes.",
                "items": .object(
                    JSONSchema.words(ServiceWarnings.Warning.allCases.map(\.rawValue)).keywords),
            ]
        }
    }

    fileprivate static var keySetCause: JSONSchema {
        .component("KeySetCause") {
            .words(
                ["not_refreshed"] + KeySetFetchError.Code.allCases.map(\.rawValue),
                "The reason why the last fetch failed.")
        }
    }
}

extension StorageError.Code: JSONWord {
    public static var schemaName: String { "StorageCause" }
    public static var schemaText: String { "The reason why the database cannot be used." }
}

extension KeySetHealth: JSONBody {
    public static var schemaName: String { "KeySetHealth" }

    private var word: String {
        switch status {
        case .ready: "ready"
        case .stale: "stale"
        case .unavailable: "unavailable"
        }
    }

    private var warning: String? {
        guard case .stale(let cause) = status else { return nil }
        return cause?.rawValue ?? "not_refreshed"
    }

    private var cause: String? {
        guard case .unavailable(let cause) = status else { return nil }
        return cause?.rawValue
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "status",
            .words(
                ["ready", "stale", "unavailable"],
                "With `stale` the keys are still used, and `warning` gives the reason why they were not refreshed."
            )
        ) { $0.word }
        member("warning", .keySetCause) { $0.warning }
        member("cause", .keySetCause) { $0.cause }
        member("count", .from(0, "The number of usable keys.")) { $0.keyCount }
        member("skipped", .from(1, "The number of entries of the set that are not usable.")) {
            $0.skippedKeyCount > 0 ? $0.skippedKeyCount : nil
        }
        member("age_seconds", .from(0, "Seconds since the key set was fetched.")) { $0.age.map { $0 / 1000 } }
        member("fresh_until") { $0.freshUntil.map { Moment(milliseconds: $0) } }
        member("usable_until") { $0.usableUntil.map { Moment(milliseconds: $0) } }
    }
}

struct Version: JSONBody {
    static var schemaName: String { "Version" }
    let version: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("name", ["type": "string", "const": "siwa", "description": "The name of the program."]) { _ in
            "siwa"
        }
        member("version", .nonEmpty("The version of the program.")) { $0.version }
    }
}
