import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// The control API under `/control`, for tests and terminals.
struct ControlRoutes: Sendable {
    let state: ReceiverState

    func add(to api: ControlAPI<ReceiverRequestContext>) {
        api.add(.get, "", "Shows the receivers, with their URLs and their state in siwa.") {
            await overview()
        }
        api.add(
            .get, "messages", "Shows the latest messages, the oldest first; text: one line for each.",
            hasText: true
        ) { input throws(EmulatorError) in
            try MessageFilter(&input)
        } use: { filter in
            messages(filter)
        }
        api.add(.delete, "messages", "Deletes the messages.", hasText: true) { input throws(EmulatorError) in
            try input.refuseMembers()
            return try MessageFilter(&input)
        } use: { filter in
            state.update { $0.log.clear() }
            return messages(filter)
        }
        api.add(.get, "faults", "Shows the faults.") { faults() }
        api.add(.delete, "faults", "Clears all faults; siwa sends the waiting events at once.") {
            input throws(EmulatorError) in
            try input.refuseMembers()
        } use: { _ in
            for receiver in EmulatedReceiver.allCases { await state.recover(receiver) }
            return faults()
        }
        api.add(
            .put, "faults/{receiver}", "Makes a receiver fail.", example: ["fault": "slow", "seconds": 5]
        ) { input throws(EmulatorError) in
            let receiver = try Self.receiver(input.path("receiver", EmulatedReceiver.self))
            return (receiver, try input.receiverFault())
        } use: { receiver, fault in
            try state.setFault(fault, of: receiver)
            return faults()
        }
        api.add(
            .delete, "faults/{receiver}", "Clears a receiver's fault; siwa sends the waiting events at once."
        ) { input throws(EmulatorError) in
            try input.refuseMembers()
            return try Self.receiver(input.path("receiver", EmulatedReceiver.self))
        } use: { receiver in
            await state.recover(receiver)
            return faults()
        }
    }

    static func receiver(_ name: String) throws(EmulatorError) -> EmulatedReceiver {
        guard let receiver = EmulatedReceiver(rawValue: name) else {
            let names = EmulatedReceiver.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.receiverNotFound, detail: "the receivers are \(names)")
        }
        return receiver
    }

    private func overview() async -> ControlResponse<ReceiverOverview> {
        let (sender, urls, dropped, followed, total) = state.update {
            ($0.sender, $0.urls, $0.dropped, $0.followed, $0.log.lastNumber)
        }
        let status = await sender.status()
        let receivers = EmulatedReceiver.allCases.map { receiver in
            ShownReceiver(
                name: receiver.rawValue, url: urls[receiver], status: status[receiver.rawValue],
                dropped: dropped[receiver] ?? 0)
        }
        return ControlResponse(
            ReceiverOverview(
                receivers: receivers, messages: total, redirectsFollowed: followed,
                audience: state.checks.audience, issuer: sender.issuer))
    }

    /// Returns the latest messages, oldest first.
    private func messages(_ filter: MessageFilter) -> ControlResponse<MessageList> {
        let found = state.messages.filter { message in
            (filter.receiver == nil || message.receiver == filter.receiver)
                && (filter.type == nil || message.event?.type == filter.type)
        }.suffix(filter.limit)
        return ControlResponse(
            MessageList(messages: Array(found)), text: found.map { "\($0.line)\n" }.joined())
    }

    private func faults() -> ControlResponse<MembersByWord<EmulatedReceiver, ReceiverFault>> {
        ControlResponse(MembersByWord(state.update { $0.faults }))
    }
}

private struct ReceiverOverview: JSONBody {
    let receivers: [ShownReceiver]
    let messages: Int
    let redirectsFollowed: Int
    let audience: String
    let issuer: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("receivers") { $0.receivers }
        member("messages", "The number of all messages since the start.") { $0.messages }
        member("redirects_followed") { $0.redirectsFollowed }
        member("audience", "The aud of security event tokens.") { $0.audience }
        member("issuer", "The iss of security event tokens; absent until siwa is known.") { $0.issuer }
    }
}

private struct ShownReceiver: JSONBody {
    let name: String
    let url: String?
    let status: String?
    let dropped: Int

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("name", .words(EmulatedReceiver.allCases.map(\.rawValue))) { $0.name }
        member("url", "Absent until the receiver listens.") { $0.url }
        member("status", "The state of the receiver in siwa; absent if siwa does not know it.") { $0.status }
        member("dropped", "Requests that the receiver ended without a response.") { $0.dropped }
    }
}

private struct MessageList: JSONBody {
    let messages: [ReceivedMessage]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("messages") { $0.messages }
    }
}

/// The messages that a call returns.
private struct MessageFilter: Sendable {
    let receiver: EmulatedReceiver?
    let type: String?
    let limit: Int

    init(_ input: inout ControlInput) throws(EmulatorError) {
        let name = input.query("receiver", EmulatedReceiver.self)
        receiver = try name.map { name throws(EmulatorError) in try ControlRoutes.receiver(name) }
        type = input.query("type")
        limit = try input.query("limit", in: 1...MessageLog.capacity, default: MessageLog.capacity)
    }
}
