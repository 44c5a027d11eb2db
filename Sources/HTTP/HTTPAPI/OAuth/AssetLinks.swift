import AuthorizationServer
import StrictJSON

/// The Android apps that open links of this host: the content of `assetlinks.json` (Google, Digital Asset
/// Links).
struct AssetLinks {
    private var apps: [AndroidApp] = []

    init(of clients: ClientRegistry) {
        for app in clients.clients.compactMap(\.androidApp) where !apps.contains(app) { apps.append(app) }
    }

    var isEmpty: Bool { apps.isEmpty }

    var document: [UInt8] {
        let statements = apps.map { app in
            JSONValue.object(
                JSONObject([
                    ("relation", .array([.string("delegate_permission/common.handle_all_urls")])),
                    (
                        "target",
                        .object(
                            JSONObject([
                                ("namespace", .string("android_app")), ("package_name", .string(app.package)),
                                (
                                    "sha256_cert_fingerprints",
                                    .array(app.fingerprints.map { .string($0) })
                                ),
                            ]))
                    ),
                ]))
        }
        return JSONValue.array(statements).serialized()
    }
}
