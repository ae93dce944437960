package io.idempotency.spring.web;

import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

/** Handlers that read the request in every way there is and answer with what they saw. */
@RestController
@RequestMapping("/bodies")
class BodyHandlers {

    private final Effects effects;

    BodyHandlers(Effects effects) {
        this.effects = effects;
    }

    @PostMapping("/bytes")
    @Idempotent
    byte[] bytes(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) throws IOException {
        effects.add(key);
        return request.getInputStream().readAllBytes();
    }

    @PutMapping("/bytes")
    @Idempotent
    byte[] putBytes(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) throws IOException {
        return bytes(key, request);
    }

    @PostMapping("/reader")
    @Idempotent
    String reader(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) throws IOException {
        effects.add(key);
        return request.getReader().lines().collect(Collectors.joining("\n"));
    }

    @PostMapping("/params")
    @Idempotent
    String params(
            @RequestHeader("Idempotency-Key") String key, @RequestParam String name, @RequestParam List<String> tag) {
        effects.add(key);
        return name + " " + tag;
    }

    @PutMapping("/params")
    @Idempotent
    String putParams(
            @RequestHeader("Idempotency-Key") String key, @RequestParam String name, @RequestParam List<String> tag) {
        return params(key, name, tag);
    }

    @PostMapping("/model")
    @Idempotent
    String model(@RequestHeader("Idempotency-Key") String key, @ModelAttribute Form form) {
        effects.add(key);
        return form.name() + " " + form.tag();
    }

    @PostMapping("/map")
    @Idempotent
    String map(@RequestHeader("Idempotency-Key") String key, @RequestBody MultiValueMap<String, String> form) {
        effects.add(key);
        return form.getFirst("name") + " " + form.get("tag");
    }

    @PutMapping("/map")
    @Idempotent
    String putMap(@RequestHeader("Idempotency-Key") String key, @RequestBody MultiValueMap<String, String> form) {
        return map(key, form);
    }

    @PostMapping("/everything")
    @Idempotent
    Map<String, Object> everything(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request)
            throws IOException {
        effects.add(key);
        Map<String, Object> seen = new TreeMap<>();
        seen.put(
                "names",
                java.util.Collections.list(request.getParameterNames()).stream()
                        .sorted()
                        .toList());
        Map<String, List<String>> values = new TreeMap<>();
        request.getParameterMap().forEach((name, each) -> values.put(name, List.of(each)));
        seen.put("map", values);
        seen.put("first", String.valueOf(request.getParameter("name")));
        seen.put("body", new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        return seen;
    }

    @PostMapping("/upload")
    @Idempotent
    Map<String, Object> upload(
            @RequestHeader("Idempotency-Key") String key,
            @RequestParam String note,
            @RequestPart("file") MultipartFile file,
            HttpServletRequest request)
            throws Exception {
        effects.add(key);
        List<String> parts = new ArrayList<>();
        for (Part part : request.getParts()) {
            parts.add(part.getName());
        }
        return Map.of(
                "note",
                note,
                "name",
                String.valueOf(file.getOriginalFilename()),
                "size",
                file.getSize(),
                "parts",
                parts);
    }

    @PostMapping(path = "/variants/{any}", params = "kind=a")
    @Idempotent
    String variant(@PathVariable String any, @RequestHeader("Idempotency-Key") String key, @RequestParam String kind) {
        effects.add(key);
        return "a " + any + " " + kind;
    }

    @PostMapping(path = "/variants/{any}", params = "kind=b")
    String otherVariant(@PathVariable String any, @RequestParam String kind) {
        return "b " + any + " " + kind;
    }

    record Form(String name, List<String> tag) {}
}
