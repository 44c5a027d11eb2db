extension ScriptedServer.Response {
    package static func json(_ text: String, status: Int = 200, headers: String = "")
        -> ScriptedServer.Response
    {
        .send(
            "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(headers)Content-Length: "
                + "\(text.utf8.count)\r\n\r\n\(text)")
    }

    package static func refusal(_ word: String, status: Int = 400) -> ScriptedServer.Response {
        .json(#"{"error":"\#(word)"}"#, status: status)
    }

    package static let token = json(
        """
        {"access_token":"a.t","token_type":"Bearer","expires_in":3600,"refresh_token":"r.t","id_token":"i.t.s"}
        """)
    package static let emptyOK = send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
}
