import AppleAccounts
import AuthorizationServer
import StrictJSON

/// The universal links of Google that each app opens: the content of `apple-app-site-association`.
///
/// Two clients can belong to one app, and two apps can have the same paths. iOS takes the first entry that
/// names the app and matches, so each app is named for its own paths only.
struct AppSiteLinks {
    private var entries: [(paths: [String], appIDs: [String])] = []

    init(of clients: ClientRegistry, in deployment: Deployment) {
        for client in clients.clients where client.hasAppFlip {
            guard let app = deployment.app(for: client.app), let linking = client.googleLinking else {
                continue
            }
            add("\(app.team.rawValue).\(app.primaryClientID.rawValue)", to: linking.linkPaths)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    private mutating func add(_ appID: String, to paths: [String]) {
        guard let index = entries.firstIndex(where: { $0.paths == paths }) else {
            return entries.append((paths, [appID]))
        }
        if !entries[index].appIDs.contains(appID) { entries[index].appIDs.append(appID) }
    }

    var document: [UInt8] {
        let details = entries.map { entry in
            JSONValue.object(
                JSONObject([
                    ("appIDs", .array(entry.appIDs.map { .string($0) })),
                    ("components", .array(entry.paths.map { .object(JSONObject([("/", .string($0))])) })),
                ]))
        }
        return JSONValue.object(
            JSONObject([("applinks", .object(JSONObject([("details", .array(details))])))])
        ).serialized()
    }
}
