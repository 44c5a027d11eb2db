import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// The control API under `/control`, for tests and terminals.
struct ControlRoutes: Sendable {
    let state: ReceiverState

    func add(to api: ControlAPI<ReceiverRequestContext>) {
        api.add(.get, "", "Shows the receivers, with their URLs and their state in siwa.") { _ in
        } use: { _, _ in
            .json(await overview())
        }
        api.add(
            .get, "messages", "Shows the latest messages, the oldest first; text: one line for each.",
            formats: ["text"]
        ) { input throws(EmulatorError) in
            try MessageFilter(&input)
        } use: { request, filter in
            messages(filter, asText: request.uri.queryParameters["format"] == "text")
        }
        api.add(.delete, "messages", "Deletes the messages.", formats: ["text"]) {
            input throws(EmulatorError) in
            try input.refuseMembers()
            return try MessageFilter(&input)
        } use: { request, filter in
            state.update { $0.log.clear() }
            return messages(filter, asText: request.uri.queryParameters["format"] == "text")
        }
        api.add(.get, "faults", "Shows the faults.") { _ in
        } use: { _, _ in
            .json(faults())
        }
        api.add(.delete, "faults", "Clears all faults; siwa sends the waiting events at once.") {
            input throws(EmulatorError) in
            try input.refuseMembers()
        } use: { _, _ in
            for receiver in EmulatedReceiver.allCases { await state.recover(receiver) }
            return .json(faults())
        }
        api.add(
            .put, "faults/{receiver}", "Makes a receiver fail.", example: ["fault": "slow", "seconds": 5]
        ) { input throws(EmulatorError) in
            let receiver = try Self.receiver(input.path("receiver", EmulatedReceiver.self))
            return (receiver, try input.receiverFault())
        } use: { _, value in
            try state.setFault(value.1, of: value.0)
            return .json(faults())
        }
        api.add(
            .delete, "faults/{receiver}", "Clears a receiver's fault; siwa sends the waiting events at once."
        ) { input throws(EmulatorError) in
            try input.refuseMembers()
            return try Self.receiver(input.path("receiver", EmulatedReceiver.self))
        } use: { _, receiver in
            await state.recover(receiver)
            return .json(faults())
        }
    }

    static func receiver(_ name: String) throws(EmulatorError) -> EmulatedReceiver {
        guard let receiver = EmulatedReceiver(rawValue: name) else {
            let names = EmulatedReceiver.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.receiverNotFound, detail: "the receivers are \(names)")
        }
        return receiver
    }

    private func overview() async -> JSONObject {
        let (sender, urls, dropped, followed, total) = state.update {
            ($0.sender, $0.urls, $0.dropped, $0.followed, $0.log.lastNumber)
        }
        let status = await sender.status()
        let receivers = EmulatedReceiver.allCases.map { receiver in
            var json = JSONObject([("name", .string(receiver.rawValue))])
            json["url"] = urls[receiver].map { .string($0) }
            json["status"] = status[receiver.rawValue].map { .string($0) }
            json["dropped"] = .integer(Int64(dropped[receiver] ?? 0))
            return JSONValue.object(json)
        }
        var json = JSONObject([
            ("receivers", .array(receivers)), ("messages", .integer(Int64(total))),
            ("redirects_followed", .integer(Int64(followed))), ("audience", .string(state.checks.audience)),
        ])
        json["issuer"] = sender.issuer.map { .string($0) }
        return json
    }

    /// Returns the latest messages, oldest first.
    private func messages(_ filter: MessageFilter, asText: Bool) -> Response {
        let found = state.messages.filter { message in
            (filter.receiver == nil || message.receiver == filter.receiver)
                && (filter.type == nil || message.event?.type == filter.type)
        }.suffix(filter.limit)
        guard asText else {
            return .json(JSONObject([("messages", .array(found.map { .object($0.json) }))]))
        }
        let lines = found.map { "\($0.line)\n" }.joined()
        return .uncached(.ok, "text/plain; charset=utf-8", Array(lines.utf8))
    }

    private func faults() -> JSONObject {
        let faults = state.update { $0.faults }
        return JSONObject(
            EmulatedReceiver.allCases.compactMap { receiver in
                faults[receiver].map { (receiver.rawValue, .object($0.json)) }
            })
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
